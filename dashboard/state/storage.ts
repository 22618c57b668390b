/** Choices that the browser keeps. A browser that refuses storage forgets them. */
const prefix = 'fenceline.';

/** Returns what is kept under the name; undefined: nothing, or storage is refused. */
export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(prefix + name) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Keeps a text under the name, for all tabs of this browser. */
export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // Private windows may refuse.
  }
}

/**
 * Calls the listener when another tab of this browser has changed what is kept under the name.
 * @returns what ends this.
 */
export function onStoredElsewhere(
  name: string,
  listener: (before: string | null, now: string | null) => void,
): () => void {
  const listen = ({ key, oldValue, newValue }: StorageEvent) => {
    if (key === prefix + name) listener(oldValue, newValue);
  };
  addEventListener('storage', listen);
  return () => removeEventListener('storage', listen);
}

/** Forgets what is kept under the name. */
export function forgetStored(name: string): void {
  try {
    localStorage.removeItem(prefix + name);
  } catch {
    // There is nothing to forget.
  }
}
