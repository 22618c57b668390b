/**
 * Cells of files that spreadsheets would calculate: those that begin with =, +, - or @, also after a tab or a line
 * break. Anybody who may name a thing, or report as a device, could run a formula on the machine that opens the file.
 * An apostrophe before such a cell makes it text.
 *
 * A regular expression of JavaScript and of RE2. It has the full-width forms, which some spreadsheets read alike, and
 * cells that begin with apostrophes already, so that removing one apostrophe returns the text.
 */
export const formulaPattern = "^'*[=+\\-@\\t\\r\\n＝＋－＠]";
