/**
 * The fonts of maps: whole families from npm packages, so that every machine draws the same map.
 *
 * Characters of other scripts would be drawn as boxes or with system fonts. A test checks every supported script
 * against the font files.
 */
import { createRequire } from 'node:module';
import { GlobalFonts } from '@napi-rs/canvas';

/** Font faces. Families without italics are drawn upright. */
export type FontFace = 'regular' | 'medium' | 'bold' | 'italic';

/** The regional forms of Han characters, which differ between Japanese, Korean and Chinese. */
export type HanForms = 'ja' | 'ko' | 'zh';

export interface FontFamily {
  readonly name: string;
  readonly package: string;
  readonly file: string;
  readonly hasItalic?: boolean;
  /** Set for East Asian families, which are large and optional. */
  readonly han?: HanForms;
}

/** Families in fallback order. The order of East Asian families depends on the text (see {@link fontOf}). */
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
 * Registers the families once per thread. Returns the installed ones. Throws when a family is missing that is not East
 * Asian.
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
    // Each face is registered as a separate family, because the library does not always find a weight within a family.
    const key = path && GlobalFonts.registerFromPath(path, nameOf(family, face));
    if (!key) throw new Error(`the font ${family.package} is not installed`);
  }
  return true;
}

/** Returns the path of a face's file, or undefined when its package is not installed. */
export function fontPath({ package: packageName, file }: FontFamily, face: FontFace): string | undefined {
  try {
    return require.resolve(`@expo-google-fonts/${packageName}/${folders[face]}/${file}_${folders[face]}.ttf`);
  } catch {
    return undefined;
  }
}

/** Returns the name under which a face is registered. */
export function nameOf({ name, hasItalic = false }: FontFamily, face: FontFace): string {
  if (face === 'regular' || (face === 'italic' && !hasItalic)) return name;
  return `${name} ${face}`;
}

const stacks = new Map<string, string>();

/**
 * Returns a CSS font value with the whole stack of families, because other families are never used as fallback. The
 * East Asian family of `han` comes before the others, because each contains shared characters in its own forms.
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
