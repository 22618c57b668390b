/** The clipboard of the system. */

/**
 * Puts a text on the clipboard. Resolves to whether that succeeded.
 *
 * Browsers have `navigator.clipboard` only on pages of HTTPS and of this machine. On others, the command of their menu
 * still copies.
 */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyByCommand(text);
  }
}

function copyByCommand(text: string): boolean {
  let isCopied = false;
  function put(event: ClipboardEvent) {
    event.clipboardData?.setData('text/plain', text);
    event.preventDefault();
    isCopied = true;
  }
  document.addEventListener('copy', put);
  document.execCommand('copy');
  document.removeEventListener('copy', put);
  return isCopied;
}
