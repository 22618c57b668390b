/** Converts the HTML attribution of an archive to plain text for images. */

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
]);

const maxCharacters = 500;

/** Removes tags, decodes entities and collapses white space. */
export function plainAttribution(html: unknown): string {
  if (typeof html !== 'string') return '';
  const text = html
    .slice(0, 10 * maxCharacters)
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, decodeEntity);
  return text
    .replace(/\s+/g, ' ')
    .replace(/ ([,.;)])/g, '$1')
    .trim()
    .slice(0, maxCharacters);
}

function decodeEntity(whole: string, name: string): string {
  if (!name.startsWith('#')) return namedEntities.get(name.toLowerCase()) ?? whole;
  const hexadecimal = name[1] === 'x' || name[1] === 'X';
  const code = Number.parseInt(name.slice(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
  return code > 0x1f && code <= 0x10ffff ? String.fromCodePoint(code) : ' ';
}
