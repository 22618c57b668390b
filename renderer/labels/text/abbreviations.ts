/**
 * Abbreviates names of streets as maps and street signs do: `Sacramento St`, `Bd St-Michel`, `P.te S. Trinita`. Pure.
 *
 * The first or the last word tells the language. Names that no rule knows stay as they are.
 */
import { rememberByText } from './remember.js';

type Words = Readonly<Record<string, string>>;

/** Rules of a language, or of two that agree. */
interface Rules {
  /** Kinds of streets, at the start of a name. An equal value only tells the language. */
  readonly first: Words;
  /** Words that are abbreviated after these. */
  readonly others: Words;
}

/** Kinds of English streets, at the end of a name. */
const english: Words = {
  Street: 'St',
  Avenue: 'Ave',
  Boulevard: 'Blvd',
  Road: 'Rd',
  Drive: 'Dr',
  Lane: 'Ln',
  Court: 'Ct',
  Place: 'Pl',
  Square: 'Sq',
  Terrace: 'Ter',
  Highway: 'Hwy',
  Parkway: 'Pkwy',
  Freeway: 'Fwy',
  Expressway: 'Expy',
  Circle: 'Cir',
  Crescent: 'Cres',
  Gardens: 'Gdns',
  Plaza: 'Plz',
};
/** After the kind of an English street. */
const directions: Words = {
  North: 'N',
  South: 'S',
  East: 'E',
  West: 'W',
  Northeast: 'NE',
  Northwest: 'NW',
  Southeast: 'SE',
  Southwest: 'SW',
};

const languages: readonly Rules[] = [
  {
    // French
    first: {
      Boulevard: 'Bd',
      Avenue: 'Av.',
      Place: 'Pl.',
      Impasse: 'Imp.',
      Square: 'Sq.',
      Passage: 'Pass.',
      Allée: 'All.',
      Allées: 'All.',
      Route: 'Rte',
      Chemin: 'Ch.',
      Rue: 'Rue',
      Quai: 'Quai',
      Cours: 'Cours',
    },
    others: { Saint: 'St', Sainte: 'Ste', Faubourg: 'Fg', Général: 'Gal', Maréchal: 'Mal', Docteur: 'Dr' },
  },
  {
    // Italian
    first: {
      Viale: 'V.le',
      Piazza: 'P.za',
      Piazzale: 'P.le',
      Corso: 'C.so',
      Lungarno: 'L.no',
      Borgo: 'B.go',
      Vicolo: 'V.lo',
      Ponte: 'P.te',
      Via: 'Via',
    },
    others: { San: 'S.', Santa: 'S.', Santo: 'S.', Generale: 'Gen.', Dottor: 'Dott.' },
  },
  {
    // Spanish and Catalan
    first: {
      Calle: 'C.',
      Avenida: 'Av.',
      Plaza: 'Pl.',
      Paseo: 'P.º',
      Carretera: 'Ctra.',
      Camino: 'Cno.',
      Carrer: 'C.',
      Avinguda: 'Av.',
      Plaça: 'Pl.',
      Passeig: 'Pg.',
    },
    others: { San: 'S.', Santa: 'Sta.', General: 'Gral.', Doctor: 'Dr.' },
  },
  {
    // Portuguese
    first: { Rua: 'R.', Praça: 'Pç.', Travessa: 'Tv.', Estrada: 'Estr.', Alameda: 'Al.' },
    others: { São: 'S.', Santo: 'Sto.', Santa: 'Sta.', General: 'Gen.', Coronel: 'Cel.', Doutor: 'Dr.' },
  },
  {
    // Polish
    first: { Aleja: 'al.', Aleje: 'al.', Plac: 'pl.', ulica: 'ul.' },
    others: { Generała: 'gen.', Świętego: 'św.', Świętej: 'św.' },
  },
];

/** Russian kinds of streets stand first or last. */
const russian: Words = {
  улица: 'ул.',
  проспект: 'просп.',
  переулок: 'пер.',
  площадь: 'пл.',
  набережная: 'наб.',
  бульвар: 'бул.',
  шоссе: 'ш.',
  проезд: 'пр.',
};

/** German and Dutch kinds of streets are the end of a word. */
const endings = /(straße|strasse|platz|straat)(?=$|[ ,-])/giu;
const endingOf: Words = { straße: 'str.', strasse: 'str.', platz: 'pl.', straat: 'str.' };

/** Returns the abbreviated name of a street; null where nothing is abbreviated. */
export const abbreviated = rememberByText((name): string | null => {
  const words = name.split(' ');
  const kept = words.length > 1 ? (inEnglish(words) ?? byItsFirstWord(words) ?? inRussian(words)) : null;
  const short = (kept ?? words).join(' ').replace(endings, shortEnding);
  return short.length < name.length ? short : null;
});

const shortOf = (words: Words, word: string): string | undefined =>
  Object.hasOwn(words, word) ? words[word] : undefined;

function inEnglish(words: readonly string[]): string[] | null {
  const last = words.length - 1;
  const direction = shortOf(directions, words[last]!);
  const at = direction ? last - 1 : last;
  // The kind is all of a name such as `The Avenue`.
  const kind = at > 0 && words[0] !== 'The' ? shortOf(english, words[at]!) : undefined;
  return kind ? [...words.slice(0, at), kind, ...(direction ? [direction] : [])] : null;
}

function byItsFirstWord([first, ...rest]: readonly string[]): string[] | null {
  const rules = languages.find((each) => Object.hasOwn(each.first, first!));
  if (!rules) return null;
  // `Saint-Denis` is one word of two parts.
  const parts = (word: string) => word.split('-').map((part) => shortOf(rules.others, part) ?? part);
  return [rules.first[first!]!, ...rest.map((word) => parts(word).join('-'))];
}

function inRussian(words: readonly string[]): string[] | null {
  const at = words.findIndex((word) => Object.hasOwn(russian, word));
  return at >= 0 ? words.map((word, i) => (i === at ? russian[word]! : word)) : null;
}

function shortEnding(found: string): string {
  const short = endingOf[found.toLowerCase()]!;
  return found[0] === found[0]!.toLowerCase() ? short : short[0]!.toUpperCase() + short.slice(1);
}
