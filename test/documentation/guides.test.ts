/** What holds for all guides: their links lead somewhere, and their calls name the server as the quick start does. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { settings } from '../../server/config/settings.js';

const listed = execFileSync('git', ['ls-files', '*.md'], { encoding: 'utf8' }).trim().split('\n');
const guides = listed.map((file) => ({ file, text: readFileSync(file, 'utf8') }));
const withoutCode = (text: string): string => text.replaceAll(/^```[\s\S]*?^```/gm, '').replaceAll(/`[^`\n]*`/g, '');

/** Returns the anchors that GitHub gives the headings of a text. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.replaceAll(/^```[\s\S]*?^```/gm, '').matchAll(/^#+ (.+)$/gm)) {
    const plain = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
    const anchor = plain.replaceAll(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-');
    for (let count = 0; ; count += 1) {
      const unique = count === 0 ? anchor : `${anchor}-${count}`;
      if (anchors.has(unique)) continue;
      anchors.add(unique);
      break;
    }
  }
  return anchors;
}

/** Returns why a link leads nowhere, or undefined. */
function faultOf(file: string, target: string): string | undefined {
  const [path = '', anchor] = target.split('#');
  const found = path === '' ? file : join(dirname(file), decodeURIComponent(path));
  if (!existsSync(found)) return `${file}: ${target}: no such file`;
  if (anchor === undefined || anchorsOf(readFileSync(found, 'utf8')).has(anchor)) return;
  return `${file}: ${target}: no such heading`;
}

const defaults = new Map(settings.map(({ key, schema }) => [key, schema.default]));
const groups = new Set([...defaults.keys()].filter((key) => key.includes('.')).map((key) => key.split('.')[0]));
const variables = new Set(settings.map(({ variable }) => variable));
/** Variables that are no settings, because a file must not have them or a command alone reads them. */
const otherVariables = ['ADDRESS', 'ADMIN_API_KEY', 'CONFIG', 'ENCRYPTION_KEY', 'KEY', 'SERVER'];
/** Other documents may name what exists no more. */
const isOfToday = ({ file }: { readonly file: string }): boolean => /^docs\/[^/]+\.md$|^README\.md$/.test(file);

/** A setting with a number: in the next column of a table, in brackets, or after a comma. */
const withDefault = /(?:^\| `(\w+\.\w+)` \| |`(\w+\.\w+)`(?: \(|, ))([\d,]*\d)(?: (s|min|MiB|GiB))?(?=\)|;|,| \|)/gm;
const factors: Readonly<Record<string, number>> = { s: 1_000, min: 60_000, MiB: 2 ** 20, GiB: 2 ** 30 };
/** Reads a number with its unit as the number of a setting, which is in milliseconds or bytes where it has a unit. */
const settingOf = (number: string, unit = ''): number => Number(number.replaceAll(',', '')) * (factors[unit] ?? 1);

describe('the guides', () => {
  it('name settings and variables that exist', () => {
    const unknown = guides
      .filter(isOfToday)
      .flatMap(({ file, text }) => [
        ...[...text.matchAll(/`((\w+)\.[a-zA-Z]+)`/g)]
          .filter(([, key = '', group = '']) => groups.has(group) && !/\.(rdb|ts)$/.test(key) && !defaults.has(key))
          .map(([, key]) => `${file}: ${key}`),
        ...[...text.matchAll(/\bFENCELINE_([A-Z_]+)\b/g)]
          .filter(([variable, name = '']) => !variables.has(variable) && !otherVariables.includes(name))
          .map(([variable]) => `${file}: ${variable}`),
      ]);
    expect(unknown).toEqual([]);
  });

  it('give settings the defaults that they have', () => {
    const given = guides
      .filter(isOfToday)
      .flatMap(({ file, text }) =>
        [...text.matchAll(withDefault)].map(([, first, other = '', number = '', unit]) => ({
          file,
          key: first ?? other,
          value: settingOf(number, unit),
        })),
      )
      .filter(({ key }) => defaults.has(key));
    expect(given.length).toBeGreaterThan(20);
    expect(given.filter(({ key, value }) => defaults.get(key) !== value)).toEqual([]);
  });

  it('link to files and headings that exist', () => {
    const links = guides.flatMap(({ file, text }) =>
      [...withoutCode(text).matchAll(/\]\((?!\w+:)([^)\s]+)\)/g)].map(([, target = '']) => ({ file, target })),
    );
    expect(links.length).toBeGreaterThan(500);
    expect(links.map(({ file, target }) => faultOf(file, target)).filter(Boolean)).toEqual([]);
  });

  it('call the server by $FENCELINE, which the quick start sets', () => {
    const calls = guides.flatMap(({ file, text }) =>
      [...text.matchAll(/^.*\bcurl\b.*127\.0\.0\.1:8080.*$/gm)].map(([line]) => `${file}: ${line}`),
    );
    expect(calls).toEqual([]);
  });
});
