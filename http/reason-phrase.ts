/**
 * Returns the reason phrase of an HTTP status, such as "Not Found"; undefined if Node knows none.
 *
 * A static import of `node:http` reads all exports of that module, and one of them loads Node's copy of undici. That
 * takes 30 ms at each start.
 */
export const reasonPhrase = (status: number): string | undefined =>
  process.getBuiltinModule('node:http').STATUS_CODES[status];
