/** `fenceline config`: what is in force and where each value came from. */
import type { Setting } from './load.js';

function shown({ knob, value }: Setting): string {
  if (knob.schema.secret && value !== '') return '(set)';
  return Array.isArray(value) ? `[${value.join(', ')}]` : String(value);
}

/** One line per knob: key, value, source; with `explain`, what turning it does. */
export function describeSettings(settings: readonly Setting[], explain: boolean): string {
  const keyWidth = Math.max(...settings.map(({ knob }) => knob.key.length));
  const valueWidth = Math.max(...settings.map((setting) => shown(setting).length));
  return settings
    .map((setting) => {
      const { knob, source } = setting;
      const line = `${knob.key.padEnd(keyWidth)}  ${shown(setting).padEnd(valueWidth)}  ${source}`;
      return explain ? `${line}\n    ${knob.schema.description}\n    ${knob.variable}` : line;
    })
    .join('\n');
}
