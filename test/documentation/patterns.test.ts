/**
 * No pattern of the program takes more than linear time, whatever text it is given.
 *
 * A public key sent a latitude of 40,000 digits and a letter. The pattern of numbers tried every way to divide the
 * digits between two of its parts, and the node answered nobody for five seconds.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { analyse } from 'scslre';
import { parseAst } from 'vite';
import { expect, it } from 'vitest';

interface Pattern {
  readonly place: string;
  readonly source: string;
  readonly flags: string;
}

/** Patterns that may begin anywhere in a text: the time is quadratic in a text that repeats their first part. */
const ofBoundedTexts = new Map([
  [String.raw`\/+$`, 'addresses of the configuration'],
  [String.raw`\B(?=(\d{3})+$)`, 'digits of one number'],
  ['[?#].*$', 'matches at the first place: its dot includes line breaks'],
  ['%.*$', 'addresses of connections and headers, which have no line break'],
  [String.raw`\{.*\}`, 'addresses of the configuration'],
  [String.raw`([^\s<>/="'&]+)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')`, 'attributes that another pattern has matched'],
  [String.raw`([^{}]*)\{([^{}]*)`, 'style sheets of icons, whose length is limited'],
]);

function patternsIn(file: string): Pattern[] {
  const text = readFileSync(file, 'utf8');
  const found: Pattern[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { regex, start } = node as { regex?: { pattern: string; flags: string } | null; start?: number };
    if (regex) {
      const line = text.slice(0, start).split('\n').length;
      found.push({ place: `${file}:${line}`, source: regex.pattern, flags: regex.flags });
      return;
    }
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
  return found;
}

const isOfTheProgram = (file: string): boolean =>
  !/\.test\.ts$|(?:^|\/)(?:test|testing|bench|reference|\.ci)\/|^renderer\/basemap\/.*\.mjs$/.test(file);

it('no pattern takes more than linear time', () => {
  const files = execFileSync('git', ['ls-files', '*.ts', '*.tsx', '*.mjs'], { encoding: 'utf8' }).trim().split('\n');
  const patterns = files.filter(isOfTheProgram).flatMap(patternsIn);
  expect(patterns.length).toBeGreaterThan(250);
  const slow = patterns.filter(
    ({ source, flags }) => !ofBoundedTexts.has(source) && analyse({ source, flags }).reports.length > 0,
  );
  expect(slow).toEqual([]);
  const sources = new Set(patterns.map(({ source }) => source));
  expect([...ofBoundedTexts.keys()].filter((source) => !sources.has(source))).toEqual([]);
});
