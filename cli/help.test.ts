import { describe, expect, test } from 'vitest';
import { readArguments } from './arguments.js';
import type { CommandDescription } from './command.js';
import { descriptions } from './descriptions.js';
import { commandHelp, overview } from './help.js';

const commands = Object.entries<CommandDescription>(descriptions);

test('the overview lists every command in lines that fit a terminal', () => {
  const text = overview(descriptions);
  for (const [name, { summary }] of commands) expect(text.replace(/\s+/g, ' ')).toContain(`${name} ${summary}`);
  expect(Math.max(...text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
});

describe.each(commands)('help for %s', (name, description) => {
  const text = commandHelp(description);

  test('lists the forms, the options with defaults, and examples', () => {
    for (const form of description.usage) expect(text).toContain(`fenceline ${form} [OPTIONS]`);
    for (const option of Object.keys(description.options)) expect(text).toContain(`--${option}`);
    expect(description.examples).not.toEqual([]);
  });

  test('says for each option that takes a value what happens without it, or that it selects something', () => {
    for (const { type, value, help } of Object.values(description.options)) {
      expect(help).toMatch(/^[A-Z].*\.$/);
      if (type === 'string') expect(value).toBeDefined();
      if (type === 'string') expect(help).toMatch(/Default: |Required|^Only events|Together with|Move the positions/);
    }
  });

  test('has examples that the command accepts', () => {
    for (const { line } of description.examples) {
      const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      const start = words.indexOf('fenceline');
      const end = words.findIndex((word) => word === '|' || word === '>');
      const [given, ...args] = words.slice(start + 1, end === -1 ? undefined : end);
      expect(given).toBe(name);
      expect(() => readArguments(name, description, args)).not.toThrow();
    }
  });
});
