/** Quotes names and texts in ClickHouse statements where parameters are not allowed. */

/** Quotes a name, such as that of a table or a column. */
export const identifier = (text: string): string => `\`${text.replace(/[\\`]/g, '\\$&')}\``;
/** Quotes a text as a string literal. */
export const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
