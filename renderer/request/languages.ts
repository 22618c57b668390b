/** The languages of ISO 639-1, and which of them a tag or a header names. Pure. */

/** With `sh`, which OpenStreetMap still uses. */
const codes =
  'aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv ' +
  'dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ' +
  'ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv ' +
  'mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm ' +
  'rn ro ru rw sa sc sd se sg sh si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ' +
  'ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu';

const known: ReadonlySet<string> = new Set(codes.split(' '));

/** Codes that ISO 639-1 has replaced. Java and Android still write the first three. */
const replacements: ReadonlyMap<string, string> = new Map([
  ['iw', 'he'],
  ['in', 'id'],
  ['ji', 'yi'],
  ['mo', 'ro'],
]);

/** The language of a request that names none. */
export const defaultLanguage = 'en-US';

/**
 * Returns the language of a tag such as `pt-BR`, or of a locale such as `pt_BR`: two letters, or undefined. Of the rest
 * of a tag, only traditional Chinese counts: `zh-Hant`.
 */
export function languageOf(tag: string): string | undefined {
  const language = tag.toLowerCase().replaceAll('_', '-');
  if (/^zh-(?:hant|(?:tw|hk|mo)$)/.test(language)) return 'zh-Hant';
  const [, letters = ''] = /^([a-z]{2})(-[a-z0-9]{2,8})*$/.exec(language) ?? [];
  const code = replacements.get(letters) ?? letters;
  return known.has(code) ? code : undefined;
}

/** Returns the language that an Accept-Language header prefers (RFC 9110, 12.5.4), or the default. */
export function deviceLanguage(acceptLanguage: string): string {
  const ranges = acceptLanguage.split(',').map((range) => {
    const [tag = '', parameter] = range.split(';').map((part) => part.trim());
    return { language: languageOf(tag), weight: Number(parameter?.replace(/^q=/i, '') ?? 1) };
  });
  const usable = ranges.filter(({ language, weight }) => language !== undefined && weight > 0);
  return usable.sort((a, b) => b.weight - a.weight)[0]?.language ?? languageOf(defaultLanguage)!;
}
