/** Formats the configuration for `fenceline config`. Pure. */
import { shownUrl } from './http-url.js';
import type { LoadedSetting } from './load.js';

function shown({ setting, value }: LoadedSetting): string {
  if (setting.schema.secret && value !== '') return '(set)';
  return Array.isArray(value) ? `[${value.join(', ')}]` : shownUrl(String(value));
}

/** Returns one line per setting: key, value, source. With `explain`, also its effect and its environment variable. */
export function describeSettings(loaded: readonly LoadedSetting[], explain: boolean): string {
  const keyWidth = Math.max(...loaded.map(({ setting }) => setting.key.length));
  const valueWidth = Math.max(...loaded.map((each) => shown(each).length));
  return loaded
    .map((each) => {
      const { setting, source } = each;
      const line = `${setting.key.padEnd(keyWidth)}  ${shown(each).padEnd(valueWidth)}  ${source}`;
      return explain ? `${line}\n    ${setting.schema.description}\n    ${setting.variable}` : line;
    })
    .join('\n');
}
