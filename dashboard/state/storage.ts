/** Choices that the browser keeps. A browser that refuses storage forgets them. */
const prefix = 'fenceline.';

export function readStored(name: string): string | undefined {
  try {
    return localStorage.getItem(prefix + name) ?? undefined;
  } catch {
    return undefined;
  }
}

export function writeStored(name: string, value: string): void {
  try {
    localStorage.setItem(prefix + name, value);
  } catch {
    // Private windows may refuse.
  }
}

export function forgetStored(name: string): void {
  try {
    localStorage.removeItem(prefix + name);
  } catch {
    // There is nothing to forget.
  }
}
