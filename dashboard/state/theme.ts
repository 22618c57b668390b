/** Light or dark: as the system says, unless the user chose. It is applied before React is there. */
import { readStored, writeStored } from './storage';

/** What the user has chosen. `system` follows the setting of the operating system. */
export type ThemeChoice = 'system' | 'light' | 'dark';

const system = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

/** Returns the choice of this browser. Other values count as `system`. */
export function themeChoice(): ThemeChoice {
  const stored = readStored('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Returns what is shown: the choice, or what the system says now. */
export function currentTheme(): 'light' | 'dark' {
  const choice = themeChoice();
  if (choice !== 'system') return choice;
  return system.matches ? 'dark' : 'light';
}

/** Shows the present theme, and tells the listeners of {@link onThemeChange}. */
export function applyTheme(): void {
  document.documentElement.dataset.theme = currentTheme();
  for (const listener of listeners) listener();
}

/** Keeps a choice, and shows it at once. */
export function chooseTheme(choice: ThemeChoice): void {
  writeStored('theme', choice);
  applyTheme();
}

system.addEventListener('change', applyTheme);

/** Calls the listener after each change, until the returned function is called. */
export function onThemeChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
