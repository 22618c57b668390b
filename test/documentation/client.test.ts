/** Runs the example of docs/client.md against a server. */
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { until } from '../../testing/until.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/client.md', import.meta.url), 'utf8');
const [, example = ''] = /```js\n([\s\S]*?)```/.exec(guide) ?? [];
/** The package finds itself by its name from here. */
const cwd = fileURLToPath(new URL('../..', import.meta.url));

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
});

it('saves, lists, shows a refusal, and follows events', async () => {
  const env = { ...process.env, FENCELINE: server.address, SK: server.keys.test_secret };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', example], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  const lines = () => output.trimEnd().split('\n');
  await until(() => output.includes('refused'));
  expect(lines()).toEqual(['saved 17', 'listed 17', 'refused invalid_parameter radius']);
  const device = server.as('test_publishable');
  const place = { latitude: 43.77, longitude: 11.25, accuracy: 5 };
  let devices = 0;
  // The stream begins at its end: only devices that enter after it has opened are printed.
  await until(async () => {
    devices += 1;
    await device.track({ deviceId: `phone-${devices}`, ...place });
    return output.includes('event');
  });
  expect(lines()[3]).toMatch(/^event user\.entered_geofence phone-\d+ \S+$/);
});
