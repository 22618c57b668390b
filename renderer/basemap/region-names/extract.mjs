// Extracts the names of seas, lakes and states into region-names.json.br, which the basemap is baked with. README.md
// beside this file names the sources and how to run it.
//
//   node renderer/basemap/region-names/extract.mjs CSV_FOLDER OPENCC_FOLDER
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';
import { parse } from 'csv-parse/sync';

const [csvFolder, openccFolder] = process.argv.slice(2);
const { Converter } = await import(pathToFileURL(join(openccFolder, 'dist/esm/full.js')).href);
const toSimplified = Converter({ from: 't', to: 'cn' });
const toTraditional = Converter({ from: 'cn', to: 'tw' });

/** Languages of Natural Earth, and those that only `additions` has. */
const languages =
  'ar bn da de el en es fa fi fr he hi hr hu id it ja ko nl no pl pt ru sv th tr uk ur vi zh zh-Hant'.split(' ');

const scripts = {
  Arab: /\p{Script=Arabic}/u,
  Beng: /\p{Script=Bengali}/u,
  Cyrl: /\p{Script=Cyrillic}/u,
  Deva: /\p{Script=Devanagari}/u,
  Grek: /\p{Script=Greek}/u,
  Hans: /^[\p{Script=Han}·]+$/u,
  Hant: /^[\p{Script=Han}·]+$/u,
  Hebr: /\p{Script=Hebrew}/u,
  Jpan: /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u,
  Kore: /\p{Script=Hangul}/u,
  Latn: /\p{Script=Latin}/u,
  Thai: /\p{Script=Thai}/u,
};

/** Seas of the basemap. */
const seas = (
  'Pacific Ocean|Atlantic Ocean|Indian Ocean|Arctic Ocean|Southern Ocean|Mediterranean Sea|Black Sea|Caspian Sea|' +
  'Red Sea|Arabian Sea|Bay of Bengal|Persian Gulf|Gulf of Oman|Gulf of Aden|Andaman Sea|Gulf of Thailand|' +
  'South China Sea|East China Sea|Yellow Sea|Sea of Japan|Sea of Okhotsk|Bering Sea|Philippine Sea|Sulu Sea|' +
  'Celebes Sea|Java Sea|Banda Sea|Arafura Sea|Gulf of Carpentaria|Great Australian Bight|Coral Sea|Tasman Sea|' +
  'Gulf of Alaska|Gulf of California|Gulf of Mexico|Caribbean Sea|Hudson Bay|Labrador Sea|Baffin Bay|' +
  'Greenland Sea|Norwegian Sea|North Sea|Baltic Sea|Gulf of Bothnia|Irish Sea|English Channel|Bay of Biscay|' +
  'Tyrrhenian Sea|Adriatic Sea|Ionian Sea|Aegean Sea|Barents Sea|Kara Sea|Laptev Sea|East Siberian Sea|' +
  'Chukchi Sea|Beaufort Sea|Gulf of Guinea|Mozambique Channel|Weddell Sea|Ross Sea'
).split('|');

/** Lakes of the basemap. */
const lakes = (
  'Lake Superior|Lake Michigan|Lake Huron|Lake Erie|Lake Ontario|Great Bear Lake|Great Slave Lake|Lake Winnipeg|' +
  'Lake Titicaca|Lake Victoria|Lake Malawi|Lake Baikal|Lake Ladoga'
).split('|');

/** Countries whose states have names in the basemap. */
const countries = ['USA', 'CAN', 'AUS', 'BRA'];

/** Natural Earth leaves out the word for a lake in these languages. */
const lakeWords = { es: 'Lago *', fr: 'Lac *', id: 'Danau *', it: 'Lago *', pt: 'Lago *', tr: '* Gölü', vi: 'Hồ *' };

/** Words for a state that few names have. */
const stateWords = /^(?:État de |Estado d[aeo] |штат |ریاست |ایالت |استان )| राज्य$/u;

/** Names that Natural Earth has wrong or unusual, or not at all. `names` has a language and its name between bars. */
const additions = {
  'Pacific Ocean': 'th มหาสมุทรแปซิฟิก',
  'Atlantic Ocean': 'th มหาสมุทรแอตแลนติก|hi अटलांटिक महासागर',
  'Indian Ocean': 'th มหาสมุทรอินเดีย',
  'Arctic Ocean': 'th มหาสมุทรอาร์กติก|hi आर्कटिक महासागर',
  'Southern Ocean': 'th มหาสมุทรใต้|hi दक्षिणी महासागर',
  'Mediterranean Sea': 'th ทะเลเมดิเตอร์เรเนียน|es Mar Mediterráneo',
  'Red Sea': 'he ים סוף',
  'Bay of Bengal': 'th อ่าวเบงกอล|es Golfo de Bengala',
  'Andaman Sea': 'th ทะเลอันดามัน',
  'Gulf of Thailand': 'th อ่าวไทย|it Golfo di Thailandia',
  'South China Sea': 'th ทะเลจีนใต้',
  'East China Sea': 'nl Oost-Chinese Zee',
  'Celebes Sea': 'ru Море Сулавеси',
  'Gulf of Carpentaria': 'ru Залив Карпентария',
  'Caribbean Sea': 'it Mar dei Caraibi|pt Mar do Caribe',
  'Baffin Bay': 'fr Baie de Baffin',
  'Laptev Sea': 'fr Mer des Laptev',
  'Norwegian Sea': 'no Norskehavet',
  'North Sea': 'da Nordsøen|no Nordsjøen',
  'Baltic Sea': 'da Østersøen|no Østersjøen|fi Itämeri',
  'Gulf of Bothnia': 'fi Pohjanlahti',
  'Bay of Biscay': 'de Golf von Biskaya',
  'Adriatic Sea': 'hr Jadransko more',
  'Celtic Sea': 'de Keltische See|fr Mer Celtique|es Mar Céltico|it Mar Celtico|ru Кельтское море|ja ケルト海',
  'Lake Superior': 'de Oberer See',
  'Great Bear Lake':
    'fr Grand lac de l’Ours|es Gran Lago del Oso|it Grande Lago degli Orsi|pt Grande Lago do Urso|tr Büyük Ayı Gölü',
  'Great Slave Lake':
    'fr Grand lac des Esclaves|es Gran Lago del Esclavo|it Grande Lago degli Schiavi|pt Grande Lago do Escravo|' +
    'nl Grote Slavenmeer',
  'Lake Malawi': 'ru Ньяса',
  'Lake Ladoga': 'fi Laatokka',
};

const read = (name) => parse(readFileSync(join(csvFolder, `${name}.csv`)), { columns: true, relax_quotes: true });

/** Returns a name as maps print it, or an empty text if it is not in the language's script. */
function cleaned(name, language) {
  const plain = name
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/\s*\(.*\)$/u, '')
    .replace(/(?<=..)\.$/u, '')
    .replaceAll("'", '’')
    .trim();
  if (!scripts[new Intl.Locale(language).maximize().script].test(plain)) return '';
  return plain.replace(/^./u, (first) => first.toLocaleUpperCase(language));
}

/** Returns the names of a row by language. */
function namesIn(row, key, asPrinted = (name) => name) {
  const names = new Map();
  for (const language of languages) {
    const column = `name_${language === 'zh-Hant' ? 'zht' : language}`;
    const name = cleaned(asPrinted(row[column] ?? '', language), language);
    if (name !== '') names.set(language, name);
  }
  // Both columns mix simplified and traditional characters.
  const chinese = names.get('zh') ?? names.get('zh-Hant');
  if (chinese !== undefined) names.set('zh', toSimplified(chinese));
  for (const entry of additions[key]?.split('|') ?? []) names.set(...splitOnce(entry));
  names.delete('zh-Hant');
  const traditional = toTraditional(names.get('zh') ?? '');
  if (traditional !== (names.get('zh') ?? '')) names.set('zh-Hant', traditional);
  return names;
}

function splitOnce(entry) {
  const end = entry.indexOf(' ');
  return [entry.slice(0, end), entry.slice(end + 1)];
}

/** Lines of the file: a key, and a name for each language; empty where it is the English one. */
function lineOf(key, english, names) {
  return [
    key,
    ...languages.map((language) => (language === 'en' ? english : withoutEnglish(names, language, english))),
  ];
}

const withoutEnglish = (names, language, english) => {
  const name = names.get(language) ?? '';
  return name === english ? '' : name;
};

const marine = read('ne_10m_geography_marine_polys');
const water = read('ne_10m_lakes');
const found = (rows, key) =>
  rows.find(({ name, name_en: english }) => [name, english].some((each) => isSame(each, key)));
const isSame = (a, b) => withoutLake(a) === withoutLake(b);
const withoutLake = (name) => name.toLowerCase().replace(/^lake /, '');

const lines = [
  ...[...seas, 'Celtic Sea'].map((key) => lineOf(key, key, namesIn(found(marine, key) ?? {}, key))),
  ...lakes.map((key) => {
    const withWord = (name, language) => (name === '' ? '' : (lakeWords[language] ?? '*').replace('*', name));
    return lineOf(key, key, namesIn(found(water, key) ?? {}, key, withWord));
  }),
];
const states = read('ne_50m_admin_1_states_provinces')
  .filter(({ adm0_a3: country }) => countries.includes(country))
  .map((row) => {
    const key = `${row.gu_a3} ${row.postal}`;
    const names = namesIn(row, key, (name) => name.replace(stateWords, ''));
    return [row.name, ...lineOf(key, names.get('en') ?? row.name, names)];
  });

const missing = [...seas, ...lakes].filter((key) => !found(seas.includes(key) ? marine : water, key));
if (missing.length > 0) throw new Error(`not found: ${missing.join(', ')}`);
const json = JSON.stringify({ languages, waters: lines, states });
const bytes = brotliCompressSync(json, { params: { [constants.BROTLI_PARAM_QUALITY]: 11 } });
writeFileSync(new URL('region-names.json.br', import.meta.url), bytes);
process.stdout.write(
  `${lines.length} waters, ${states.length} states, ${json.length} characters, ${bytes.length} bytes\n`,
);
