/** Returns the value of a JSON text, or of its bytes in UTF-8; undefined if it is not JSON. */
export function parsedJson(text: string | Buffer): unknown {
  try {
    return JSON.parse(text.toString());
  } catch {
    return undefined;
  }
}
