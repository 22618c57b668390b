/** The theme for components. */
import { useSyncExternalStore } from 'react';
import { currentTheme, onThemeChange, type ThemeChoice, themeChoice } from './theme';

/** Returns what the user has chosen. */
export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(onThemeChange, themeChoice);
/** Returns the theme that is shown. */
export const useTheme = (): 'light' | 'dark' => useSyncExternalStore(onThemeChange, currentTheme);
