/**
 * The fonts of maps: families from npm packages, so that every machine draws the same map.
 *
 * A few families are common to all texts. The others hold one script each, come from optional packages, and are loaded
 * when a text needs them. Other families, such as the system's, are never used: characters without a font would be
 * drawn as boxes. A test checks every supported script against the font files.
 */
import { createRequire } from 'node:module';
import { GlobalFonts, type SKRSContext2D } from '@napi-rs/canvas';

/** Font faces. Families without italics are drawn upright, and those of one weight in that weight. */
export type FontFace = 'regular' | 'medium' | 'bold' | 'italic';

/** The regional forms of Han characters, which differ between Japanese, Korean and Chinese. */
export type HanForms = 'ja' | 'ko' | 'zh';

/** A family of fonts and the npm package that has its files. */
export interface FontFamily {
  readonly name: string;
  /** Name of the npm package. */
  readonly package: string;
  /** Unicode's names of the scripts that the family draws. */
  readonly scripts: readonly string[];
  /** Set when the package is optional. */
  readonly isOptional?: boolean;
  readonly hasItalic?: boolean;
  /** Set when one file holds all weights. */
  readonly isVariable?: boolean;
  /** Set for East Asian families, which are large and optional. */
  readonly han?: HanForms;
  /** Set for families that are loaded when a text needs them. */
  readonly isLoadedByText?: boolean;
  /** Returns the path of a face's file within the package. */
  file(face: FontFace): string;
}

const weights: Readonly<Record<FontFace, number>> = { regular: 400, medium: 500, bold: 700, italic: 400 };
const faces = Object.keys(weights) as readonly FontFace[];

const folders: Readonly<Record<FontFace, string>> = {
  regular: '400Regular',
  medium: '500Medium',
  bold: '700Bold',
  italic: '400Regular_Italic',
};

/** Describes a family of whole TrueType files, in every weight. */
function common(suffix: string, file: string, scripts: readonly string[], more: Partial<FontFamily> = {}): FontFamily {
  const name = suffix === '' ? 'Fenceline Sans' : `Fenceline Sans ${suffix}`;
  const id = file.replace('NotoSans', '').toLowerCase();
  return {
    name,
    package: `@expo-google-fonts/noto-sans${id === '' ? '' : `-${id}`}`,
    scripts,
    file: (face) => `${folders[face]}/${file}_${folders[face]}.ttf`,
    ...more,
  };
}

const eastAsian = (suffix: string, file: string, scripts: readonly string[], forms: HanForms): FontFamily =>
  common(suffix, file, scripts, { han: forms, isOptional: true });

const ofOneScript = { isOptional: true, isLoadedByText: true };

/** Describes a family of one script, with all weights in one file. */
function variable(script: string, id = script.toLowerCase().replace('_', '-'), kind = 'sans'): FontFamily {
  return {
    name: `Fenceline ${script.replace('_', ' ')}`,
    package: `@fontsource-variable/noto-${kind}-${id}`,
    scripts: [script],
    isVariable: true,
    ...ofOneScript,
    file: () => `files/noto-${kind}-${id}-${id}-wght-normal.woff2`,
  };
}

/** Describes a family of one script, with one file for each weight or a single weight. */
function weighted(script: string, hasWeights: boolean): FontFamily {
  const id = script.toLowerCase();
  return {
    name: `Fenceline ${script}`,
    package: `@fontsource/noto-sans-${id}`,
    scripts: [script],
    ...ofOneScript,
    file: (face) => `files/noto-sans-${id}-${id}-${hasWeights ? weights[face] : weights.regular}-normal.woff2`,
  };
}

/** Families in fallback order. The order of East Asian families depends on the text (see {@link fontOf}). */
export const fontFamilies: readonly FontFamily[] = [
  common('', 'NotoSans', ['Latin', 'Greek', 'Cyrillic', 'Devanagari'], { hasItalic: true }),
  common('Arabic', 'NotoSansArabic', ['Arabic']),
  common('Hebrew', 'NotoSansHebrew', ['Hebrew']),
  common('Thai', 'NotoSansThai', ['Thai']),
  eastAsian('Chinese', 'NotoSansSC', ['Han', 'Bopomofo', 'Hiragana', 'Katakana'], 'zh'),
  eastAsian('Japanese', 'NotoSansJP', ['Han', 'Hiragana', 'Katakana'], 'ja'),
  eastAsian('Korean', 'NotoSansKR', ['Hangul', 'Han'], 'ko'),
  variable('Adlam'),
  variable('Armenian'),
  variable('Balinese'),
  variable('Bengali'),
  variable('Canadian_Aboriginal'),
  variable('Cherokee'),
  variable('Ethiopic'),
  variable('Georgian'),
  variable('Gujarati'),
  variable('Gurmukhi'),
  variable('Javanese'),
  variable('Kannada'),
  variable('Khmer'),
  variable('Lao'),
  variable('Malayalam'),
  variable('Meetei_Mayek'),
  weighted('Mongolian', false),
  weighted('Myanmar', true),
  weighted('Nko', false),
  variable('Ol_Chiki'),
  variable('Oriya'),
  variable('Sinhala'),
  weighted('Syriac', true),
  variable('Tamil'),
  variable('Telugu'),
  variable('Thaana'),
  variable('Tibetan', 'tibetan', 'serif'),
  weighted('Tifinagh', false),
  weighted('Yi', false),
];

const require = createRequire(import.meta.url);
const registered = new Map<FontFamily, boolean>();

/** Returns whether a family is installed, after it is registered. Throws when a required one is missing. */
function isRegistered(family: FontFamily): boolean {
  let isInstalled = registered.get(family);
  if (isInstalled === undefined) {
    isInstalled = register(family);
    registered.set(family, isInstalled);
  }
  return isInstalled;
}

function register(family: FontFamily): boolean {
  for (const face of faces) {
    const name = nameOf(family, face);
    if (GlobalFonts.has(name)) continue;
    const path = fontPath(family, face);
    if (path === undefined && family.isOptional) return false;
    // Each face is registered as a separate family, because the library does not always find a weight within a family.
    const key = path && GlobalFonts.registerFromPath(path, name);
    if (!key) throw new Error(`the font ${family.package} is not installed`);
  }
  return true;
}

/** Returns the optional families that are not installed. None is loaded. */
export const lackingFamilies = (): readonly FontFamily[] =>
  fontFamilies.filter((family) => family.isOptional && fontPath(family, 'regular') === undefined);

/** Returns the path of a face's file, or undefined when its package is not installed. */
export function fontPath(family: FontFamily, face: FontFace): string | undefined {
  try {
    return require.resolve(`${family.package}/${fileOf(family, face)}`);
  } catch {
    return undefined;
  }
}

/** Returns the name under which a face is registered. Faces in the same file have the same name. */
export function nameOf(family: FontFamily, face: FontFace): string {
  const first = faces.find((each) => fileOf(family, each) === fileOf(family, face))!;
  return first === 'regular' ? family.name : `${family.name} ${first}`;
}

const fileOf = (family: FontFamily, face: FontFace): string =>
  family.file(face === 'italic' && !family.hasItalic ? 'regular' : face);

const scriptsIn = (scripts: readonly string[]): string => scripts.map((script) => `\\p{Script=${script}}`).join('');

const commonFamilies = fontFamilies.filter((family) => !family.isLoadedByText);
const needsOnlyCommon = new RegExp(
  `^[\\p{Script=Common}\\p{Script=Inherited}${scriptsIn(commonFamilies.flatMap(({ scripts }) => scripts))}]*$`,
  'u',
);
const scripts = [...new Set(fontFamilies.flatMap((family) => family.scripts))].map((script) => ({
  occurs: new RegExp(`\\p{Script=${script}}`, 'u'),
  families: fontFamilies.filter((family) => family.scripts.includes(script)),
}));
const drawnScripts = new RegExp(
  `^[\\p{Script=Common}\\p{Script=Inherited}${scriptsIn(fontFamilies.flatMap((family) => family.scripts))}]*$`,
  'u',
);

const none: readonly FontFamily[] = [];

/** Returns the installed families common to all texts, and loads them. Throws when a required one is missing. */
export const commonFonts = (): readonly FontFamily[] => commonFamilies.filter(isRegistered);

/** Returns the families beyond the common ones that a text needs, and loads them. Missing ones are left out. */
export function familiesFor(text: string): readonly FontFamily[] {
  if (needsOnlyCommon.test(text)) return none;
  return scripts
    .filter(({ occurs }) => occurs.test(text))
    .flatMap(({ families }) => families.filter((family) => family.isLoadedByText && isRegistered(family)));
}

const missing = new Set<string>();
const isPlain = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]*$/u;

/**
 * Returns whether installed fonts have all scripts of a text. The packages of missing ones are kept for
 * {@link takeMissingFonts}.
 */
export function isDrawable(text: string, isInstalled: (family: FontFamily) => boolean = isRegistered): boolean {
  if (isPlain.test(text)) return true;
  if (!drawnScripts.test(text)) return false;
  const lacking = scripts.filter(({ occurs, families }) => occurs.test(text) && !families.some(isInstalled));
  for (const { families } of lacking) missing.add(families[0]!.package);
  return lacking.length === 0;
}

/** Returns the packages of fonts that texts needed and that are not installed, since the last call. */
export function takeMissingFonts(): readonly string[] {
  const packages = [...missing];
  missing.clear();
  return packages;
}

/** Notes packages for {@link takeMissingFonts} again: those of texts that were read before, and kept. */
export function noteMissingFonts(packages: readonly string[]): void {
  for (const name of packages) missing.add(name);
}

/** Returns what `read` returns, and the packages that it noted. Those that were noted before stay noted. */
export function withMissingFonts<Result>(read: () => Result): {
  readonly result: Result;
  readonly missingFonts: readonly string[];
} {
  const others = takeMissingFonts();
  const result = read();
  const missingFonts = takeMissingFonts();
  noteMissingFonts(others);
  return { result, missingFonts };
}

/** What a text's font depends on besides its size. */
export interface FontSelection {
  readonly face: FontFace;
  readonly han: HanForms;
  /** Families beyond the common ones (see {@link familiesFor}). */
  readonly families: readonly FontFamily[];
}

const stacks = new Map<string, string>();

/**
 * Returns a CSS font value with the whole stack of families, because other families are never used as fallback. The
 * East Asian family of `han` comes before the others, because each contains shared characters in its own forms.
 * `families` are those of {@link familiesFor}. Weights of variable families need {@link setFont}.
 */
export function fontOf(
  sizePx: number,
  face: FontFace = 'regular',
  forms: HanForms = 'zh',
  families: readonly FontFamily[] = none,
): string {
  const key = [face, forms, ...families.map((family) => family.name)].join();
  let stack = stacks.get(key);
  if (stack === undefined) {
    stack = stackOf(face, forms, families);
    stacks.set(key, stack);
  }
  return `${sizePx}px ${stack}`;
}

function stackOf(face: FontFace, forms: HanForms, families: readonly FontFamily[]): string {
  const installed = commonFonts();
  const others = installed.filter((family) => family.han !== undefined && family.han !== forms);
  const first = installed.filter((family) => !others.includes(family));
  return [...first, ...others, ...families].map((family) => `"${nameOf(family, face)}"`).join(', ');
}

/** Sets the font of a canvas, with the weight of variable families. */
export function setFont(context: SKRSContext2D, sizePx: number, selection: FontSelection): void {
  const { face, han: forms, families } = selection;
  context.font = fontOf(sizePx, face, forms, families);
  context.fontVariationSettings = families.some((family) => family.isVariable) ? `"wght" ${weights[face]}` : 'normal';
}
