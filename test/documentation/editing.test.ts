/** Runs the calls of docs/editing.md: a revision that is current changes the record, and one that is not is refused. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { circle } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/editing.md', import.meta.url), 'utf8');
const [, block = ''] = /```sh\n([\s\S]*?)```/.exec(guide) ?? [];

it('shows a revision, and edits the record only at that revision', async () => {
  const server = await SharedServer.newProject();
  await server.as('test_secret').putGeofence('duomo', circle(0, 0, 120), 'store');
  const env = { ...process.env, FENCELINE: server.address, SK: server.keys.test_secret };
  const run = (command: string) => execFileSync('bash', ['-e', '-c', `${command} --silent`], { env, encoding: 'utf8' });
  const [read = '', shown = '', edit = ''] = block.trim().split('\n');
  const [, name, etag = ''] = /^(ETag): ("r\d+")\r$/im.exec(run(read)) ?? [];
  const [, shownName, shownTag = ''] = /^# (ETag): ("r\d+")$/.exec(shown) ?? [];
  expect(name?.toLowerCase()).toBe(shownName?.toLowerCase());
  expect(JSON.parse(run(edit.replace(shownTag, etag))).geofence.geometryRadius).toBe(150);
  expect(JSON.parse(run(edit.replace(shownTag, etag))).meta).toMatchObject({ code: 412, type: 'precondition_failed' });
});
