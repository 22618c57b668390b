/** Runs the README's examples in a shell against a server. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
/** Shell blocks that call the API, in their order. */
const examples = [...readme.matchAll(/```sh\n([\s\S]*?)```/g)]
  .map(([, text]) => text as string)
  .filter((text) => text.includes('curl'));

let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
});

/** Runs a block and returns the answers of its commands. */
function paste(block: string): Json[] {
  const script = block.replaceAll(/^(\s*)curl /gm, '$1curl --silent --show-error --write-out "\\n" ');
  const { test_secret: SK, test_publishable: PK } = server.keys;
  const env = { ...process.env, FENCELINE: server.address, SK, PK };
  const output = execFileSync('bash', ['-e', '-c', script], { env, encoding: 'utf8' });
  return output
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

describe('the README', () => {
  it('has two examples: a first geofence with an event, and a first webhook', () => {
    expect(examples).toHaveLength(2);
  });

  it('has a first example that works as written', async () => {
    const [created, tracked, left] = paste(examples[0] as string);
    expect(created?.geofence).toMatchObject({ tag: 'store', externalId: 'duomo', geometryRadius: 120 });
    expect(tracked?.events).toMatchObject([{ type: 'user.entered_geofence', confidence: 3 }]);
    expect(tracked?.user.geofences).toMatchObject([{ externalId: 'duomo' }]);
    expect(left?.events).toMatchObject([{ type: 'user.exited_geofence', duration: expect.any(Number) }]);
    const listed = await until(async () => {
      const { events } = ok(await server.as('test_secret').get('/v1/events'));
      return events.length === 2 && events;
    });
    expect(listed.map(({ _id }: Json) => _id)).toEqual([left, tracked].map((answer) => answer?.events[0]._id));
  });

  // It had a figure that was neither the current one nor marked as older.
  it('has the capacity that was measured', () => {
    const measurements = readFileSync(new URL('../../docs/measurements.md', import.meta.url), 'utf8');
    const stored = [
      ...measurements.matchAll(/^\| stored: 10 k circles of 100 m, (?:as SDKs report, )?0\.05 .*?\/s \| ([\d,]+) \|/gm),
    ];
    const [plain, ofSdks] = stored.map(([, median]) => median);
    expect(readme).toContain(`${plain} plain locations a second stored, ${ofSdks} as SDKs report`);
    expect(measurements).toMatch(/^\| 1 M fences, .* \| locations\/s \| /m);
  });

  it('has a second example that creates a webhook', () => {
    const [made] = paste(examples[1] as string);
    expect(made?.webhook).toMatchObject({ url: 'https://app.example.com/events', enabled: true });
  });
});
