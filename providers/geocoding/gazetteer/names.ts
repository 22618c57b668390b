/**
 * Names of countries and of states in English, and the form in which names are compared. Pure.
 *
 * The states are those of five large countries, whose codes GeoNames and people share or can be listed: the rest of the
 * data has codes without names.
 */
import { addTo } from '../../../schemas/groups.js';

const marks = /\p{M}+/gu;
const separators = /[\s.'’`´-]+/gu;

/** Returns a name without case, accents, dots, hyphens and apostrophes, so `Saint-Étienne` equals `saint etienne`. */
export const folded = (name: string): string =>
  name
    .normalize('NFKD')
    .replace(marks, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll('ø', 'o')
    .replaceAll('æ', 'ae')
    .replaceAll('ł', 'l')
    .replaceAll('đ', 'd')
    .replaceAll('ı', 'i')
    .replace(separators, ' ')
    .trim();

/** A part of an address that narrows it: a country, or a state of one. */
export interface Region {
  readonly country: string;
  /** By the codes of GeoNames; null: the whole country. */
  readonly region: string | null;
}

/** By country: code of GeoNames, code that people write, name. */
const states: Readonly<Record<string, readonly (readonly [string, string, string])[]>> = {
  US: Object.entries({
    AL: 'Alabama',
    AK: 'Alaska',
    AZ: 'Arizona',
    AR: 'Arkansas',
    CA: 'California',
    CO: 'Colorado',
    CT: 'Connecticut',
    DE: 'Delaware',
    DC: 'District of Columbia',
    FL: 'Florida',
    GA: 'Georgia',
    HI: 'Hawaii',
    ID: 'Idaho',
    IL: 'Illinois',
    IN: 'Indiana',
    IA: 'Iowa',
    KS: 'Kansas',
    KY: 'Kentucky',
    LA: 'Louisiana',
    ME: 'Maine',
    MD: 'Maryland',
    MA: 'Massachusetts',
    MI: 'Michigan',
    MN: 'Minnesota',
    MS: 'Mississippi',
    MO: 'Missouri',
    MT: 'Montana',
    NE: 'Nebraska',
    NV: 'Nevada',
    NH: 'New Hampshire',
    NJ: 'New Jersey',
    NM: 'New Mexico',
    NY: 'New York',
    NC: 'North Carolina',
    ND: 'North Dakota',
    OH: 'Ohio',
    OK: 'Oklahoma',
    OR: 'Oregon',
    PA: 'Pennsylvania',
    RI: 'Rhode Island',
    SC: 'South Carolina',
    SD: 'South Dakota',
    TN: 'Tennessee',
    TX: 'Texas',
    UT: 'Utah',
    VT: 'Vermont',
    VA: 'Virginia',
    WA: 'Washington',
    WV: 'West Virginia',
    WI: 'Wisconsin',
    WY: 'Wyoming',
  }).map(([code, name]) => [code, code, name] as const),
  CA: [
    ['01', 'AB', 'Alberta'],
    ['02', 'BC', 'British Columbia'],
    ['03', 'MB', 'Manitoba'],
    ['04', 'NB', 'New Brunswick'],
    ['05', 'NL', 'Newfoundland and Labrador'],
    ['07', 'NS', 'Nova Scotia'],
    ['08', 'ON', 'Ontario'],
    ['09', 'PE', 'Prince Edward Island'],
    ['10', 'QC', 'Quebec'],
    ['11', 'SK', 'Saskatchewan'],
    ['12', 'YT', 'Yukon'],
    ['13', 'NT', 'Northwest Territories'],
    ['14', 'NU', 'Nunavut'],
  ],
  GB: [
    ['ENG', 'ENG', 'England'],
    ['SCT', 'SCT', 'Scotland'],
    ['WLS', 'WLS', 'Wales'],
    ['NIR', 'NIR', 'Northern Ireland'],
  ],
  AU: [
    ['01', 'ACT', 'Australian Capital Territory'],
    ['02', 'NSW', 'New South Wales'],
    ['03', 'NT', 'Northern Territory'],
    ['04', 'QLD', 'Queensland'],
    ['05', 'SA', 'South Australia'],
    ['06', 'TAS', 'Tasmania'],
    ['07', 'VIC', 'Victoria'],
    ['08', 'WA', 'Western Australia'],
  ],
  DE: [
    ['01', 'BW', 'Baden-Württemberg'],
    ['02', 'BY', 'Bavaria'],
    ['03', 'HB', 'Bremen'],
    ['04', 'HH', 'Hamburg'],
    ['05', 'HE', 'Hesse'],
    ['06', 'NI', 'Lower Saxony'],
    ['07', 'NW', 'North Rhine-Westphalia'],
    ['08', 'RP', 'Rhineland-Palatinate'],
    ['09', 'SL', 'Saarland'],
    ['10', 'SH', 'Schleswig-Holstein'],
    ['11', 'BB', 'Brandenburg'],
    ['12', 'MV', 'Mecklenburg-Vorpommern'],
    ['13', 'SN', 'Saxony'],
    ['14', 'ST', 'Saxony-Anhalt'],
    ['15', 'TH', 'Thuringia'],
    ['16', 'BE', 'Berlin'],
  ],
};

/** What people write beside the English name. */
const countryNames: Readonly<Record<string, readonly string[]>> = {
  US: ['usa', 'u s a', 'u s', 'united states of america', 'america'],
  GB: ['uk', 'u k', 'great britain', 'britain'],
  DE: ['deutschland'],
  ES: ['espana'],
  IT: ['italia'],
  NL: ['holland', 'the netherlands'],
  CZ: ['czech republic'],
  CH: ['schweiz', 'suisse'],
  AT: ['osterreich'],
  TR: ['turkey'],
  BR: ['brasil'],
  KR: ['south korea', 'korea'],
  AE: ['uae'],
  CI: ['ivory coast'],
};

/** The names under which a few large cities are better known than by the dataset's. */
export const knownAs: Readonly<Record<string, string>> = {
  'new york': 'new york city',
  nyc: 'new york city',
  munchen: 'munich',
  koln: 'cologne',
  wien: 'vienna',
  praha: 'prague',
  roma: 'rome',
  milano: 'milan',
  firenze: 'florence',
  venezia: 'venice',
  napoli: 'naples',
  torino: 'turin',
  lisboa: 'lisbon',
  warszawa: 'warsaw',
  moskva: 'moscow',
  bruxelles: 'brussels',
  kobenhavn: 'copenhagen',
  goteborg: 'gothenburg',
  'den haag': 'the hague',
};

/** Made at its first use, because that takes 8 ms. */
let displayNames: Intl.DisplayNames | undefined;

/** Returns the English name of a country; undefined for an unknown code. */
export function countryName(code: string): string | undefined {
  if (!/^[A-Z]{2}$/.test(code)) return undefined;
  displayNames ??= new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
  return displayNames.of(code);
}

/** Returns the name and the usual code of a state; undefined where they are not known. */
export function stateOf(country: string, region: string): { readonly name: string; readonly code: string } | undefined {
  const state = states[country]?.find(([code]) => code === region);
  return state && { code: state[1], name: state[2] };
}

/** Returns the regions by folded name and code. A name may mean several: Georgia, or CA. */
export function regionsByName(countries: Iterable<string>): ReadonlyMap<string, readonly Region[]> {
  const regions = new Map<string, Region[]>();
  const add = (name: string, region: Region): void => addTo(regions, folded(name), region);
  for (const country of new Set(countries)) {
    const names = [country, countryName(country), ...(countryNames[country] ?? [])];
    for (const name of new Set(names)) if (name !== undefined) add(name, { country, region: null });
    for (const [region, code, name] of states[country] ?? []) {
      for (const each of new Set([code, name])) add(each, { country, region });
    }
  }
  return regions;
}
