/**
 * Runs the examples against a server. Those with Redis and Kafka are in test/cluster: example-queue, example-consumers.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { isPostgresqlMissing, startPostgresql } from '../../testing/services/postgresql.js';
import { until } from '../../testing/until.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

const cwd = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'fenceline-examples-'));
let server: SharedServer;
beforeAll(async () => {
  server = await SharedServer.newProject();
  await server.as('test_secret').putGeofence('gate', circle(0, 0, 100));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const environment = (more: Readonly<Record<string, string>> = {}) => ({
  ...process.env,
  FENCELINE: server.address,
  SK: server.keys.test_secret,
  ...more,
});

/** Starts an example. It ends with the test at the latest. */
function start(program: string, file: string, more: Readonly<Record<string, string>>) {
  const child = spawn(program, [`examples/${file}`], {
    cwd,
    env: environment(more),
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  return { child, output: () => output };
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  const closed = once(child, 'close');
  child.kill(signal);
  await closed;
}

let devices = 0;
/** Lets a device enter the gate. Returns the id of the event. */
async function enter(): Promise<string> {
  devices += 1;
  const device = server.as('test_publishable');
  const { events } = await device.track({ deviceId: `visitor-${devices}`, ...standing(0, 0) });
  return events[0]._id;
}

describe('the example', () => {
  it('delivery zones prints each arrival and departure once', () => {
    const output = execFileSync(process.execPath, ['examples/delivery-zones.mjs'], {
      cwd,
      env: environment(),
      encoding: 'utf8',
    });
    const ofOne = output.split('\n').filter((line) => line.startsWith('van-2'));
    expect(ofOne).toEqual([
      'van-2 arrives in Zone west',
      'van-2 leaves Zone west',
      'van-2 arrives in Zone middle',
      'van-2 leaves Zone middle',
      'van-2 arrives in Zone east',
      'van-2 leaves Zone east',
    ]);
    expect(output.trimEnd().split('\n')).toHaveLength(18);
  });

  it('events to files has each event once, through a kill and a line that was cut off', async () => {
    const target = join(folder, 'events');
    const lines = () =>
      readdirSync(target).flatMap((name) => readFileSync(join(target, name), 'utf8').split('\n').slice(0, -1));
    const ids = () => lines().map((line) => JSON.parse(line).event._id);
    const mine: string[] = [await enter(), await enter()];
    const first = start(process.execPath, 'events-to-files.mjs', { FOLDER: target });
    await until(() => first.output().includes('begins') && mine.every((id) => ids().includes(id)));
    await end(first.child, 'SIGKILL');
    mine.push(await enter());
    const [newest = ''] = readdirSync(target).toSorted().slice(-1);
    appendFileSync(join(target, newest), '{"position":"A');
    // The day after ended with its first line.
    writeFileSync(join(target, '9999-01-01.ndjson'), '{"position":"A');
    const second = start(process.execPath, 'events-to-files.mjs', { FOLDER: target });
    await until(() => second.output().includes('continues'));
    mine.push(await enter());
    await until(() => mine.every((id) => ids().includes(id)));
    await end(second.child, 'SIGTERM');
    // The events include those of the other example's vans.
    expect(new Set(ids()).size).toBe(ids().length);
    // Events of different devices have no order.
    expect(
      ids()
        .filter((id) => mine.includes(id))
        .toSorted(),
    ).toEqual(mine.toSorted());
  });

  // It read the whole file into one string, which cannot be longer than 512 MB.
  it('events to files continues behind a day of more than 512 MB', async () => {
    const target = mkdtempSync(join(folder, 'large-'));
    const path = join(target, '2000-01-01.ndjson');
    writeFileSync(path, '');
    truncateSync(path, 2 ** 29 + 2 ** 20);
    appendFileSync(path, `\n${JSON.stringify({ position: 'p1', event: 'x'.repeat(200_000) })}\n{"position":"p2`);
    const { child, output } = start(process.execPath, 'events-to-files.mjs', { FOLDER: target });
    await until(() => output().includes('continues behind p1') || child.exitCode !== null);
    expect(child.exitCode).toBeNull();
  });

  it.skipIf(isPostgresqlMissing)('events to files loads each event once into PostgreSQL, however often', async () => {
    const database = await startPostgresql();
    onTestFinished(() => database.stop());
    // The statements read the folder "events".
    const warehouse = join(folder, 'warehouse');
    const load = () => database.psql(warehouse, `--file=${join(cwd, 'examples/load-events.sql')}`);
    const mine: string[] = [];
    for (let round = 0; round < 2; round++) {
      mine.push(await enter(), await enter());
      const { child } = start(process.execPath, 'events-to-files.mjs', { FOLDER: join(warehouse, 'events') });
      const files = () => readdirSync(join(warehouse, 'events')).map((name) => join(warehouse, 'events', name));
      await until(
        () =>
          existsSync(join(warehouse, 'events')) &&
          mine.every((id) => files().some((name) => readFileSync(name, 'utf8').includes(id))),
      );
      await end(child, 'SIGTERM');
      await load();
      await load();
    }
    const query = `SELECT id, type, event #>> '{user,deviceId}' FROM events WHERE id IN ('${mine.join("', '")}')`;
    const rows = (await database.psql(warehouse, `--command=${query}`)).trimEnd().split('\n');
    const type = 'user.entered_geofence';
    const expected = mine.map((id, index) => `${id}|${type}|visitor-${devices - mine.length + index + 1}`);
    expect(rows.toSorted()).toEqual(expected.toSorted());
    const late = "SELECT count(*) FROM events WHERE created_at NOT BETWEEN now() - interval '1 hour' AND now()";
    expect(await database.psql(warehouse, `--command=${late}`)).toBe('0\n');
  });

  it('events in Python resumes at the position in its file', async () => {
    const position = { POSITION_FILE: join(folder, 'position.txt') };
    const before = await enter();
    const first = start('python3', 'follow_events.py', position);
    await until(() => first.output().includes(before));
    // The next event is printed after the position of the one before it is stored.
    const next = await enter();
    await until(() => first.output().includes(next));
    await end(first.child, 'SIGTERM');
    const meanwhile = await enter();
    const second = start('python3', 'follow_events.py', position);
    await until(() => second.output().includes(meanwhile));
    expect(second.output()).not.toContain(before);
  });
});
