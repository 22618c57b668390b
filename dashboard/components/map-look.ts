/** How maps look, apart from MapLibre itself, which is loaded after the page is shown. */
import type { Position } from '../drawing/shape';
import { readStored } from '../state/storage';

/** How bright something is: the page, or the style of a map. */
export type Theme = 'light' | 'dark';
/** A built-in style of maps. */
export type MapStyle = 'svc-default-v1' | 'svc-light-v1' | 'svc-dark-v1';

/**
 * Returns how bright a style is. What is drawn on it must be seen on it, so its colours follow the style and not the
 * page.
 */
export const shadeOf = (style: MapStyle): Theme => (style === 'svc-dark-v1' ? 'dark' : 'light');

/** The colours of kinds, and of tags, by number. */
export const palettes = {
  kind: { light: ['#0b6b66', '#8a4bb5'], dark: ['#52c5ba', '#c79be8'] },
  tag: {
    light: ['#0b6b66', '#c2410c', '#1d4ed8', '#8a4bb5', '#a16207', '#be185d', '#3f6212', '#5b6772'],
    dark: ['#52c5ba', '#fb923c', '#7aa7ff', '#c79be8', '#facc15', '#f472b6', '#a3d977', '#a3b1bd'],
  },
} as const;
/** Colours besides those of {@link palettes}, for what is chosen, written or wrong. */
export const accents = {
  light: { chosen: '#c2410c', halo: '#ffffff', text: '#15212b', cluster: '#ffffff', problem: '#b3261e' },
  dark: { chosen: '#fdba74', halo: '#0e1418', text: '#e4ebf0', cluster: '#1a242b', problem: '#ff9a91' },
} as const;

/** Returns the quiet style of a theme. */
export const styleOfTheme = (theme: Theme): MapStyle => (theme === 'dark' ? 'svc-dark-v1' : 'svc-light-v1');

/** What the user chooses for the view Map. */
export type StyleChoice = 'theme' | MapStyle;
const styleChoices: readonly StyleChoice[] = ['theme', 'svc-default-v1', 'svc-light-v1', 'svc-dark-v1'];
/** Returns the style that this browser chose last. */
export const storedStyle = (): StyleChoice => styleChoices.find((each) => each === readStored('map-style')) ?? 'theme';
/** Returns the style to draw: that of the page's theme, unless one is chosen. */
export const styleOf = (choice: StyleChoice, theme: Theme): MapStyle =>
  choice === 'theme' ? styleOfTheme(theme) : choice;

/** The part of the world that a map shows. */
export interface View {
  readonly centre: Position;
  readonly zoom: number;
}
