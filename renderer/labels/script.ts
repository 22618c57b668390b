/** What lettering must know of a text's scripts. Pure. */

import type { HanForms } from '../fonts.js';

/**
 * Letters of these scripts, digits and signs stand by themselves. Of others, as Arabic or Devanagari, neighbours shape
 * each other.
 */
const separable =
  /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Armenian}\p{Script=Georgian}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}\p{Script=Common}\p{Script=Inherited}]*$/u;

const rightToLeft =
  /^[\p{Script=Arabic}\p{Script=Hebrew}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}\p{Script=Samaritan}\p{Script=Mandaic}]/u;

/** Written without spaces between words. */
const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

/** Whether a text may be drawn letter by letter. */
export function isSeparable(text: string): boolean {
  return separable.test(text);
}

/** Whether a text reads from right to left, by its first letter (rule P2 of the Unicode Bidirectional Algorithm). */
export function isRightToLeft(text: string): boolean {
  const first = text.search(/\p{L}/u);
  return first >= 0 && rightToLeft.test(text.slice(first));
}

/** Whether a line may end between two words that no space separates. */
export function isUnspaced(text: string): boolean {
  return unspaced.test(text);
}

/**
 * Kana is only Japanese, and Hangul only Korean; a text of Chinese characters alone takes the map's language, or
 * Chinese forms.
 */
export function hanForms(text: string, language: string): HanForms {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return 'ja';
  if (/\p{Script=Hangul}/u.test(text)) return 'ko';
  return language === 'ja' || language === 'ko' ? language : 'zh';
}

const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** What a reader takes for letters: marks stay with what they stand on. */
export function lettersOf(text: string): string[] {
  return Array.from(graphemes.segment(text), ({ segment }) => segment);
}
