import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { configurationDocument } from './document.js';
import { settings } from './settings.js';

test('docs/configuration.md is what the settings say', async () => {
  const file = fileURLToPath(new URL('../../docs/configuration.md', import.meta.url));
  await expect(configurationDocument()).toMatchFileSnapshot(file);
});

test('every setting has one row', () => {
  const rows = configurationDocument().match(/^\| `[^`]+`<br>`FENCELINE_/gm) ?? [];
  expect(rows.length).toBe(settings.length);
});

test('a time limit of a month ended at once: settings in milliseconds have the maximum of timers', () => {
  const times = settings.filter(({ key }) => key.endsWith('Ms'));
  expect(times.length).toBeGreaterThan(0);
  for (const { key, schema } of times) expect(schema.maximum, key).toBeLessThan(2 ** 31);
});
