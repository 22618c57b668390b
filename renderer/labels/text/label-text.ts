/** Evaluates the text of a label and its sections. Pure, except that it loads fonts. */
import { type Color, type Formatted, isExpression } from '@maplibre/maplibre-gl-style-spec';
import { isDrawable } from '../../fonts.js';
import type { StyleLayer } from '../../style/compile.js';
import { memoizeByDependencies } from '../../style/memoize.js';
import type { Property } from '../../style/property.js';
import type { Properties, TileFeature, TileLayer } from '../../tiles/vector-tile.js';

/** Longer texts are not names, and would be expensive to shape. */
const maxCharacters = 200;

/** A part of a text with a font, a size or a colour of its own, from a `format` expression. */
export interface LabelSection {
  /** Where the section ends in the text, in UTF-16 code units. It begins where the one before ends. */
  readonly end: number;
  /** Factor to the size of the text. */
  readonly scale: number;
  /** CSS colour; null for that of the text. */
  readonly color: string | null;
  /** Font stack; null for that of the text. */
  readonly fonts: readonly string[] | null;
}

interface LabelText {
  /** Empty without a text. Lines are separated by `\n` and are distinct. */
  readonly text: string;
  /** Null for a text of one style. */
  readonly sections: readonly LabelSection[] | null;
}

const noText: LabelText = { text: '', sections: null };

type Section = Pick<Formatted['sections'][number], 'text'> & Partial<Formatted['sections'][number]>;
type Field = Formatted | string | undefined;

/**
 * Returns a function that returns the text of a tile's feature at a whole zoom. Lines without an installed font are
 * left out. A name without one is replaced by the feature's English or Latin name, if it has one.
 */
export function labelTexts(layer: StyleLayer, tileLayer: TileLayer, zoom: number): (feature: TileFeature) => LabelText {
  const field = layer.property<Field>('text-field');
  const transform = layer.property<Transform>('text-transform');
  const isToken = isTemplate(field);
  // A street is cut into many features of one name.
  const fieldOf = memoizeByDependencies(tileLayer, field.dependencies, (feature) => field.at(zoom, feature));
  return (feature) => labelText(fieldOf(feature), isToken, transform.at(zoom, feature), feature);
}

/** Reads the properties of few features, because that takes longer than all else. */
function labelText(field: Field, isToken: boolean, transform: Transform, feature: TileFeature): LabelText {
  const sections: readonly Section[] = typeof field === 'object' ? field.sections : [{ text: field ?? '' }];
  const parts = sections.map(({ text }) =>
    transformed(isToken ? resolveTokens(text, feature.properties) : text, transform),
  );
  const raw = parts.join('');
  if (raw.length > maxCharacters) return noText;
  const isStyled = sections.some(({ scale, textColor, fontStack }) => (scale ?? 1) !== 1 || textColor || fontStack);
  const isPlain = !isStyled && plainText.test(raw);
  const { text, from } = isPlain ? { text: isDrawable(raw) ? raw : '', from: [] } : tidy(raw);
  if (text === '' && raw !== '') {
    const latin = latinName(raw, feature.properties, transform);
    return latin === undefined ? noText : { text: tidy(latin).text, sections: null };
  }
  if (text === '' || !isStyled) return { text, sections: null };
  const styled: LabelSection[] = [];
  let rawEnd = 0;
  for (const [i, { scale, textColor, fontStack }] of sections.entries()) {
    rawEnd += parts[i]!.length;
    const end = from.filter((at) => at < rawEnd).length;
    if (end === (styled.at(-1)?.end ?? 0)) continue;
    const color = (textColor as Color | null)?.toString() ?? null;
    styled.push({ end, scale: scale ?? 1, color, fonts: fontStack ? fontStack.split(',') : null });
  }
  return { text, sections: styled };
}

/** Tags of names in Latin letters, the preferred first, in all schemas. */
const latinTags = ['name:en', 'name_en', 'pgf:name:en', 'name:latin', 'name_int', 'int_name'];

/** Returns the Latin name of a feature whose text is another of its names; undefined without one that can be drawn. */
function latinName(raw: string, properties: Properties, transform: Transform): string | undefined {
  const text = (tag: string) => transformed(String(properties[tag] ?? ''), transform);
  const isName = Object.keys(properties).some(
    (tag) => tag.includes('name') && raw.includes(text(tag)) && text(tag) !== '',
  );
  return isName ? latinTags.map(text).find((name) => name !== '' && tidy(name).text !== '') : undefined;
}

/** Returns whether the value is a legacy token string, which refers to properties as `{name}`. */
export function isTemplate({ kind, text }: Pick<Property<unknown>, 'kind' | 'text'>): boolean {
  return (kind === 'constant' || kind === 'camera') && !isExpression(JSON.parse(text));
}

/**
 * Replaces `{name}` with the property of that name. A value is written only once, because `{name:latin}
 * {name:nonlatin}` often repeats one name.
 */
function resolveTokens(template: string, properties: Properties): string {
  const used = new Set<unknown>();
  return template.replace(/{([^{}]+)}/g, (_token, name: string) => {
    const value = properties[name];
    if (value === undefined || used.has(value)) return '';
    used.add(value);
    return String(value);
  });
}

/** Words, as in nearly all names, of which nothing is removed. Tiles have thousands, and the rest is expensive. */
const plainText = /^[\p{L}\p{N}'’.,&-]+(?: [\p{L}\p{N}'’.,&-]+)*$/u;
const line = /[^\r\n\u2028\u2029]+/g;
const simpleLine = /^[\p{L}\p{Mn}\p{Mc}\p{N}]*$/u;
/** Pictures, with the keys around characters and the tags of flags. No font of ours has most of them. */
const pictograph =
  /(?![©®™])(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\p{Regional_Indicator}|[\uFE0F\u20E3\u{E0020}-\u{E007F}])\u200D?/gu;
/** Control characters and halves of characters. The drawing engine throws for some, and draws boxes for the others. */
const noCharacter = /[\p{Cc}\p{Cs}]/gu;
/** Brackets around nothing, and separators with nothing on one side: left over where a name is not repeated. */
const leftOver = /\(\s*\)|（\s*）|^\s*[/·|–—]+(?=\s|$)|(?<=^|\s)[/·|–—]+\s*$/gu;

/**
 * Returns the text without what need not be drawn, and the index in `raw` of each of its code units. Lines are trimmed;
 * empty and repeated ones, and those without an installed font, are removed.
 */
function tidy(raw: string): { readonly text: string; readonly from: readonly number[] } {
  let text = '';
  const from: number[] = [];
  const lines = new Set<string>();
  for (const { 0: whole, index: start } of raw.matchAll(line)) {
    const { text: content, from: units } = tidyLine(whole);
    if (content === '' || lines.has(content) || !isDrawable(content)) continue;
    if (lines.size > 0) {
      text += '\n';
      from.push(start - 1);
    }
    lines.add(content);
    text += content;
    for (const unit of units) from.push(start + unit);
  }
  return { text, from };
}

function tidyLine(whole: string): { readonly text: string; readonly from: readonly number[] } {
  const units = Array.from({ length: whole.length }, (_, i) => i);
  if (simpleLine.test(whole)) return { text: whole, from: units };
  const blank = (match: string) => ' '.repeat(match.length);
  const clean = whole.replace(pictograph, blank).replace(noCharacter, blank).replace(leftOver, blank);
  const isSpace = (at: number) => /\s/.test(clean[at] ?? ' ');
  const end = clean.trimEnd().length;
  const from = units.filter((at) => !isSpace(at) || (at > 0 && at < end && !isSpace(at - 1)));
  return { text: from.map((at) => (isSpace(at) ? ' ' : clean[at])).join(''), from };
}

type Transform = 'none' | 'uppercase' | 'lowercase';

function transformed(text: string, transform: Transform): string {
  if (transform === 'none') return text;
  return transform === 'uppercase' ? text.toUpperCase() : text.toLowerCase();
}
