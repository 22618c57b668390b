/** Returns whether the text is an http or https URL. `http:host`, which URL reads as one, is a mistake. */
export const isHttpUrl = (text: string): boolean => /^https?:\/\//i.test(text) && URL.canParse(text);
