/**
 * The fonts that maps are lettered with: whole families from npm packages, so that a machine without fonts draws the
 * same as any other.
 *
 * A script that no registered family has would be drawn as boxes, or by whatever the system has: a test holds every
 * script that we promise against the families' own drawings.
 */
import { createRequire } from 'node:module';
import { GlobalFonts } from '@napi-rs/canvas';

/** Families without an italic are drawn upright. */
export type FontFace = 'regular' | 'medium' | 'bold' | 'italic';

/** Whose forms Chinese characters take where Japanese, Korean and Chinese differ. */
export type HanForms = 'ja' | 'ko' | 'zh';

export interface FontFamily {
  readonly name: string;
  readonly package: string;
  readonly file: string;
  readonly hasItalic?: boolean;
  /** East Asian families are large, and may be left out of an installation. */
  readonly han?: HanForms;
}

/** In the order in which they are asked for a character; East Asian ones change places (see {@link fontOf}). */
export const fontFamilies: readonly FontFamily[] = [
  { name: 'Fenceline Sans', package: 'noto-sans', file: 'NotoSans', hasItalic: true },
  { name: 'Fenceline Sans Arabic', package: 'noto-sans-arabic', file: 'NotoSansArabic' },
  { name: 'Fenceline Sans Hebrew', package: 'noto-sans-hebrew', file: 'NotoSansHebrew' },
  { name: 'Fenceline Sans Thai', package: 'noto-sans-thai', file: 'NotoSansThai' },
  { name: 'Fenceline Sans Chinese', package: 'noto-sans-sc', file: 'NotoSansSC', han: 'zh' },
  { name: 'Fenceline Sans Japanese', package: 'noto-sans-jp', file: 'NotoSansJP', han: 'ja' },
  { name: 'Fenceline Sans Korean', package: 'noto-sans-kr', file: 'NotoSansKR', han: 'ko' },
];

const folders: Readonly<Record<FontFace, string>> = {
  regular: '400Regular',
  medium: '500Medium',
  bold: '700Bold',
  italic: '400Regular_Italic',
};
const faces = Object.keys(folders) as readonly FontFace[];

const require = createRequire(import.meta.url);
let registered: readonly FontFamily[] | undefined;

/**
 * Registers the families once per thread; answers those that are there. Throws when one that isn't East Asian is
 * missing.
 */
export function registerFonts(): readonly FontFamily[] {
  registered ??= fontFamilies.filter(register);
  return registered;
}

function register(family: FontFamily): boolean {
  for (const face of faces) {
    if (face === 'italic' && !family.hasItalic) continue;
    const path = fontPath(family, face);
    if (path === undefined && family.han) return false;
    // Each face is a family of its own: the library doesn't always find a weight within one.
    const key = path && GlobalFonts.registerFromPath(path, nameOf(family, face));
    if (!key) throw new Error(`the font ${family.package} is not installed`);
  }
  return true;
}

/** Where a face's file lies; undefined when its package isn't installed. */
export function fontPath({ package: packageName, file }: FontFamily, face: FontFace): string | undefined {
  try {
    return require.resolve(`@expo-google-fonts/${packageName}/${folders[face]}/${file}_${folders[face]}.ttf`);
  } catch {
    return undefined;
  }
}

/** The name that a face is registered by. */
export function nameOf({ name, hasItalic = false }: FontFamily, face: FontFace): string {
  if (face === 'regular' || (face === 'italic' && !hasItalic)) return name;
  return `${name} ${face}`;
}

const stacks = new Map<string, string>();

/**
 * A CSS font value; the whole stack, since nothing falls back to a family outside of it but the system's own fonts. Of
 * the East Asian families that of `han` comes first, for each has a part of the others' characters in its own forms.
 */
export function fontOf(sizePx: number, face: FontFace = 'regular', han: HanForms = 'zh'): string {
  const key = `${face} ${han}`;
  let stack = stacks.get(key);
  if (stack === undefined) {
    stack = stackOf(face, han);
    stacks.set(key, stack);
  }
  return `${sizePx}px ${stack}`;
}

function stackOf(face: FontFace, han: HanForms): string {
  const families = registerFonts();
  const others = families.filter((family) => family.han !== undefined && family.han !== han);
  const first = families.filter((family) => !others.includes(family));
  return [...first, ...others].map((family) => `"${nameOf(family, face)}"`).join(', ');
}
