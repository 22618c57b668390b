/** Properties of a text's scripts that decide how it is shaped. Pure. */
import type { HanForms } from '../../fonts.js';

/**
 * Scripts whose letters do not change with their neighbours, so each can be drawn separately. In others, such as Arabic
 * or Devanagari, neighbouring letters join.
 */
const separableScripts = [
  ...['Latin', 'Greek', 'Cyrillic', 'Armenian', 'Georgian', 'Han', 'Hiragana', 'Katakana', 'Hangul', 'Bopomofo'],
  ...['Ethiopic', 'Cherokee', 'Canadian_Aboriginal', 'Tifinagh', 'Yi', 'Ol_Chiki'],
  ...['Common', 'Inherited'],
];
const separable = new RegExp(`^[${classOf(separableScripts)}]*$`, 'u');

const rightToLeftScripts = ['Arabic', 'Hebrew', 'Syriac', 'Thaana', 'Nko', 'Samaritan', 'Mandaic'];
const rightToLeft = new RegExp(`^[${classOf(rightToLeftScripts)}]`, 'u');

/** Scripts written without spaces between words. */
const unspacedScripts = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar'];
const unspaced = new RegExp(`[${classOf(unspacedScripts)}]`, 'u');

/** Returns the content of a character class that matches these scripts. */
function classOf(scripts: readonly string[]): string {
  return scripts.map((script) => `\\p{Script=${script}}`).join('');
}

/** Returns whether a text may be drawn letter by letter. */
export function isSeparable(text: string): boolean {
  return separable.test(text);
}

/** Returns whether a text reads from right to left, by its first letter (Unicode Bidirectional Algorithm, rule P2). */
export function isRightToLeft(text: string): boolean {
  const first = text.search(/\p{L}/u);
  return first >= 0 && rightToLeft.test(text.slice(first));
}

/** Returns whether lines may break between words that are not separated by spaces. */
export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

/**
 * Returns the regional forms of Han characters. Kana means Japanese and Hangul means Korean. Other texts take the map's
 * language, or Chinese forms.
 */
export function hanForms(text: string, language: string): HanForms {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  if (/\p{Script=Hangul}/u.test(text)) return 'ko';
  return language === 'ja' || language === 'ko' ? language : 'zh';
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Splits a text into grapheme clusters: letters with their combining marks. */
export function lettersOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
