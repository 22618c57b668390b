/** Converts the HTML attribution of an archive to plain text for images. */
import { cutText } from '../../schemas/wording.js';

const namedEntities = new Map<string, string>([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
  ['nbsp', ' '],
  ['copy', '©'],
  ['reg', '®'],
  ['trade', '™'],
  ['ndash', '–'],
  ['mdash', '—'],
  ['middot', '·'],
  ['hellip', '…'],
  ['bull', '•'],
  ['laquo', '«'],
  ['raquo', '»'],
  ['szlig', 'ß'],
  ['AElig', 'Æ'],
  ['aelig', 'æ'],
  ['OElig', 'Œ'],
  ['oelig', 'œ'],
  ['Oslash', 'Ø'],
  ['oslash', 'ø'],
]);

/** Combining marks by the ends of names such as `uuml`. */
const accents = new Map<string, string>([
  ['grave', '\u0300'],
  ['acute', '\u0301'],
  ['circ', '\u0302'],
  ['tilde', '\u0303'],
  ['uml', '\u0308'],
  ['ring', '\u030a'],
  ['caron', '\u030c'],
  ['cedil', '\u0327'],
]);

const maxCharacters = 500;

/** The last tag may be cut off. */
const tags = /<[a-z/!][^>]*(?:>|$)/gi;

/** Removes tags, decodes entities and collapses white space. */
export function plainAttribution(html: unknown): string {
  if (typeof html !== 'string') return '';
  const text = html
    .slice(0, 10 * maxCharacters)
    .replace(tags, ' ')
    .replace(/&(#x?[0-9a-f]+|[a-z]+);?/gi, decodeEntity);
  const plain = text
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .replace(/ ([,.;)])/g, '$1')
    .trim();
  return cutText(plain, maxCharacters);
}

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith('#'))
    return namedEntities.get(name) ?? accentedLetter(name) ?? namedEntities.get(name.toLowerCase()) ?? whole;
  const hexadecimal = name[1] === 'x' || name[1] === 'X';
  const code = Number.parseInt(name.slice(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
  const isCharacter = code > 0x1f && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : ' ';
}

/** Returns the letter of a name such as `Eacute`. Returns undefined if Unicode has no single character for it. */
function accentedLetter(name: string): string | undefined {
  const accent = accents.get(name.slice(1));
  if (accent === undefined) return undefined;
  const letter = `${name[0]}${accent}`.normalize('NFC');
  return letter.length === 1 ? letter : undefined;
}
