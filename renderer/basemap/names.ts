/** Names countries in all languages of maps, from the runtime's tables (Unicode CLDR). */

/** Languages whose scripts the fonts support. Chinese in `zh` is simplified. */
const languages = (
  'af am ar as az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja ka kk km kn ' +
  'ko lo lt lv mk ml mn mr ms mt my nb ne nl nn no or pa pl pt ro ru si sk sl sq sr sv sw ta te th ti tr uk ur uz vi ' +
  'zh zh-Hant'
).split(' ');

const scripts = (
  'Latn Cyrl Grek Arab Hebr Deva Thai Jpan Kore Hans Hant ' +
  'Armn Beng Ethi Geor Khmr Knda Laoo Mlym Mymr Sinh Taml Telu'
).split(' ');

/** Regions whose full name includes their owner or a second name. Maps show the short name. */
const shortened = ['HK', 'MO', 'MM', 'PS'];

type Style = 'short' | 'long';

const styleOf = (region: string): Style => (shortened.includes(region) ? 'short' : 'long');

const dictionaries = new Map(
  languages.map((language) => [language, { short: dictionary(language, 'short'), long: dictionary(language, 'long') }]),
);

/** Falls back to English for unknown languages, never to the machine's language. */
function dictionary(language: string, style: Style): Intl.DisplayNames {
  return new Intl.DisplayNames([language, 'en'], { type: 'region', style });
}

/** Returns a country's two letters (ISO 3166-1) for its three digits, which the data uses. */
export function regionOf(digits: string): string {
  return new Intl.Locale(`und-${digits}`).region!;
}

/** Returns `name` in the country's language, if the fonts have its script, and `name:xx` for every language. */
export function countryNames(region: string): Record<string, string> {
  const style = styleOf(region);
  const translated = [...dictionaries].map(([language, dictionary]) => [
    `name:${language}`,
    dictionary[style].of(region)!,
  ]);
  return { name: ownName(region), ...Object.fromEntries(translated) };
}

/** Returns the language that most people of a country write, such as `zh-Hant`, unless the fonts lack its script. */
export function ownLanguage(region: string): string | undefined {
  const { language, script } = new Intl.Locale(`und-${region}`).maximize();
  if (!scripts.includes(script!)) return undefined;
  return script === 'Hant' ? `${language}-${script}` : language;
}

function ownName(region: string): string {
  const { baseName, script } = new Intl.Locale(`und-${region}`).maximize();
  return dictionary(scripts.includes(script!) ? baseName : 'en', styleOf(region)).of(region)!;
}
