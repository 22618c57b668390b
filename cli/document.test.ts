import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { descriptions } from './descriptions.js';
import { commandsDocument } from './document.js';

test('docs/commands.md is what the descriptions say', async () => {
  const file = fileURLToPath(new URL('../docs/commands.md', import.meta.url));
  await expect(commandsDocument()).toMatchFileSnapshot(file);
});

test('every command has a section', () => {
  const sections = [...commandsDocument().matchAll(/^## (\S+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual(Object.keys(descriptions));
});
