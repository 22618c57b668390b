/** Names and texts within ClickHouse's statements, where they can't be bound. */
export const identifier = (text: string): string => `\`${text.replace(/[\\`]/g, '\\$&')}\``;
export const literal = (text: string): string => `'${text.replace(/[\\']/g, '\\$&')}'`;
