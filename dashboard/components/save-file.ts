/** Files that the page gives to its reader. */

/** The browser has begun to read a file by then. */
const readWithinMs = 60_000;

/** Saves the content where the browser puts downloads. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), readWithinMs);
}
