/** What docs/events.md shows: its example has the fields of a real event, and its table every setting. */
import { readFileSync } from 'node:fs';
import { beforeAll, expect, it } from 'vitest';
import { Settings } from '../../schemas/json/project.js';
import { type Json, ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
const [, example = ''] = /```json\n([\s\S]*?)```/.exec(guide) ?? [];

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
});

/** Returns the paths of all fields, in their order. */
const fieldsOf = (value: Json, path = ''): string[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).flatMap(([name, inner]) => fieldsOf(inner, `${path}.${name}`))
    : [path];

it('shows an exit as it is answered', async () => {
  const secret = server.as('test_secret');
  await secret.putGeofence('duomo', circle(0, 0, 120), 'store');
  const device = server.as('test_publishable');
  const sender = { deviceId: 'phone-1', userId: 'ann' };
  await device.track({ ...sender, ...standing(0, 0) });
  const { events } = await device.track({ ...sender, ...standing(500, 0) });
  expect(events).toHaveLength(1);
  const shown = JSON.parse(example) as Json;
  expect(shown.type).toBe(events[0].type);
  expect(fieldsOf(shown)).toEqual(fieldsOf(events[0]));
});

it('lists every setting', async () => {
  const { settings } = ok(await server.as('test_secret').get('/v1/settings'));
  const names = Object.keys(Settings.properties);
  expect(names).toEqual(expect.arrayContaining(Object.keys(settings)));
  const [, table = ''] = /## Settings\n([\s\S]*?)\n## /.exec(guide) ?? [];
  expect(names.filter((name) => !table.includes(`\`${name}\``))).toEqual([]);
});
