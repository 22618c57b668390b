/** The theme for components. */
import { useSyncExternalStore } from 'react';
import { currentTheme, onThemeChange, type ThemeChoice, themeChoice } from './theme';

export const useThemeChoice = (): ThemeChoice => useSyncExternalStore(onThemeChange, themeChoice);
export const useTheme = (): 'light' | 'dark' => useSyncExternalStore(onThemeChange, currentTheme);
