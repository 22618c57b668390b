/** `fenceline config`: what is in force and where each value came from. */
import type { Setting } from './load.js';

const shown = (value: Setting['value']): string => (Array.isArray(value) ? `[${value.join(', ')}]` : String(value));

/** One line per knob: key, value, source; with `explain`, what turning it does. */
export function describeSettings(settings: readonly Setting[], explain: boolean): string {
  const keyWidth = Math.max(...settings.map(({ knob }) => knob.key.length));
  const valueWidth = Math.max(...settings.map(({ value }) => shown(value).length));
  return settings
    .map(({ knob, value, source }) => {
      const line = `${knob.key.padEnd(keyWidth)}  ${shown(value).padEnd(valueWidth)}  ${source}`;
      return explain ? `${line}\n    ${knob.schema.description}\n    ${knob.variable}` : line;
    })
    .join('\n');
}
