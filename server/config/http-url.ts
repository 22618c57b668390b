/** Returns whether the text is an http or https URL. `http:host`, which URL reads as one, is a mistake. */
export const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);

/**
 * Returns the text as commands and logs show it: a URL without its login and the values of its query. Tile servers take
 * their keys there.
 */
export const shownUrl = (text: string): string =>
  isHttpUrl(text) ? text.replace(/^(https?:\/\/)[^/?#]*@/i, '$1…@').replace(/^([^?]*\?).*/s, '$1…') : text;
