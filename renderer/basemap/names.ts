/**
 * What countries are called, in the languages that maps can be asked for: from the runtime's own tables (Unicode CLDR).
 */

/** Two letters each, all written in a script that our fonts have. */
const languages = [
  ...[
    'af',
    'ar',
    'az',
    'be',
    'bg',
    'bs',
    'ca',
    'cs',
    'cy',
    'da',
    'de',
    'el',
    'en',
    'es',
    'et',
    'eu',
    'fa',
    'fi',
    'fr',
    'ga',
    'gl',
    'he',
  ],
  ...[
    'hi',
    'hr',
    'hu',
    'id',
    'is',
    'it',
    'ja',
    'kk',
    'ko',
    'lt',
    'lv',
    'mk',
    'mn',
    'mr',
    'ms',
    'mt',
    'nb',
    'ne',
    'nl',
    'nn',
    'no',
    'pl',
  ],
  ...['pt', 'ro', 'ru', 'sk', 'sl', 'sq', 'sr', 'sv', 'sw', 'th', 'tr', 'uk', 'ur', 'uz', 'vi', 'zh'],
];

const scripts = ['Latn', 'Cyrl', 'Grek', 'Arab', 'Hebr', 'Deva', 'Thai', 'Jpan', 'Kore', 'Hans', 'Hant'];

/** Regions whose full name says to whom they belong, or has two names in one; the short one is what a map says. */
const shortened = ['HK', 'MO', 'MM', 'PS'];

type Style = 'short' | 'long';

const styleOf = (region: string): Style => (shortened.includes(region) ? 'short' : 'long');

const dictionaries = new Map(
  languages.map((language) => [language, { short: dictionary(language, 'short'), long: dictionary(language, 'long') }]),
);

/** English where the runtime doesn't know the language: never the language of the machine. */
function dictionary(language: string, style: Style): Intl.DisplayNames {
  return new Intl.DisplayNames([language, 'en'], { type: 'region', style });
}

/** A country's two letters (ISO 3166-1) from its three digits, which is how the data names it. */
export function regionOf(digits: string): string {
  return new Intl.Locale(`und-${digits}`).region!;
}

/** `name`, in the country's own language where our fonts have its script, and `name:xx` for every language. */
export function countryNames(region: string): Record<string, string> {
  const style = styleOf(region);
  const translated = [...dictionaries].map(([language, dictionary]) => [
    `name:${language}`,
    dictionary[style].of(region)!,
  ]);
  return { name: ownName(region), ...Object.fromEntries(translated) };
}

function ownName(region: string): string {
  const { baseName, script } = new Intl.Locale(`und-${region}`).maximize();
  return dictionary(scripts.includes(script!) ? baseName : 'en', styleOf(region)).of(region)!;
}
