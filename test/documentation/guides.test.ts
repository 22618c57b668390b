/** What holds for all guides: their links lead somewhere, and their calls name the server as the quick start does. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';

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

describe('the guides', () => {
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
