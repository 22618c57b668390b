import { readFileSync } from 'node:fs';
import { fileProblem } from '../schemas/file-problem.js';

/** Returns the text of a PEM file, or the rule that the file breaks. */
export function readPemFile(
  path: string,
): { readonly ok: true; readonly text: string } | { readonly ok: false; readonly rule: string } {
  try {
    const text = readFileSync(path, 'utf8');
    if (/-----BEGIN [A-Z ]+-----/.test(text)) return { ok: true, text };
    return { ok: false, rule: `${path} is not a PEM file` };
  } catch (error) {
    return { ok: false, rule: `${path} can't be read: ${fileProblem(error)}` };
  }
}
