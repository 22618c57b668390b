/**
 * Loads sharp when it is first used. Its native libraries take a third of the start of `fenceline map`, and most maps
 * don't need them.
 */
export const loadSharp = async () => (await import('sharp')).default;
