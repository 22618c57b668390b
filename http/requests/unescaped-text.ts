/**
 * Restores a text that mobile SDKs write into a query string without escaping its `&`. They write addresses so:
 * `query=5th Ave & Main St&limit=10`. Pure.
 */

/** Returns the query string with what belongs to the text `name` escaped: the parts after it that have no `=`. */
export function withRestoredText(queryString: string, name: string): string {
  const parts: string[] = [];
  for (const part of queryString.split('&').filter((given) => given !== '')) {
    if (!part.includes('=') && parts.at(-1)?.startsWith(`${name}=`)) parts.push(`${parts.pop()}%26${part}`);
    else parts.push(part);
  }
  return parts.join('&');
}
