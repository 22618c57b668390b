/**
 * A node whose read model lags, as after a pause, uses all changes that were acknowledged before: fences and projects
 * for locations, webhooks for events, and keys that another node has just issued for requests.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type LogRecord, type Topic, topics } from '../../../pipeline/ports.js';
import { codecs } from '../../../schemas/codecs.js';
import { Receiver } from '../../../testing/receiver.js';
import { until } from '../../../testing/until.js';
import { clusterSources, type Sources } from '../../ledger/sources.js';
import { type Client, ok, trackDefaults } from '../../support/client.js';
import { circle, standing } from '../../support/places.js';
import { administratorAt, at, endWorkers, fronts } from './nodes.js';

/** Shorter than a session, so that no partition moves. */
const pauseMs = 3_000;

let sources: Sources;
beforeAll(async () => {
  sources = await clusterSources(fronts().cluster.environment);
});
afterAll(() => sources?.close());

async function paused(names: readonly string[], work: () => Promise<void>): Promise<void> {
  const { nodes } = fronts();
  try {
    await Promise.all(names.map((name) => nodes.node(name).pause()));
    await Promise.all([work(), delay(pauseMs)]);
  } finally {
    for (const name of names) nodes.node(name).resume();
  }
}

async function recordsOf(topic: Topic): Promise<LogRecord[]> {
  const { log } = sources;
  const partitions = Array.from({ length: log.partitions(topic) }, async (_, partition) => {
    const { first, end } = await log.bounds(topic, partition);
    return (await log.read(topic, partition, first, Math.max(1, end - first))).records;
  });
  return (await Promise.all(partitions)).flat();
}

interface Project {
  readonly secret: string;
  readonly publishable: string;
}

async function newProject(): Promise<Project> {
  const { project } = ok(await administratorAt('left').post('/v1/projects', { name: 'Late' }));
  const keyOf = (kind: string): string =>
    project.keys.find((each: Record<string, string>) => each.environment === 'test' && each.kind === kind).key;
  return { secret: keyOf('secret'), publishable: keyOf('publishable') };
}

const left = (key: string): Client => at('left', key);

it('locations are evaluated with all acknowledged projects and geofences, however far the pipeline lags', async () => {
  const rounds = 2;
  const perRound = 12;
  const devices: string[] = [];
  for (let round = 0; round < rounds; round++) {
    await paused(['pipeline-1', 'pipeline-2'], async () => {
      for (let index = 0; index < perRound; index++) {
        const { secret, publishable } = await newProject();
        await left(secret).putGeofence('gate', circle(0, 0, 100));
        const deviceId = `device-${round}-${index}`;
        devices.push(deviceId);
        ok(await left(publishable).post('/v1/track', { ...trackDefaults, deviceId, ...standing(0, 0) }));
      }
    });
  }
  await until(
    async () =>
      (await recordsOf(topics.outcomes)).length + (await recordsOf(topics.deadLetters)).length >= devices.length,
  );
  const dead = (await recordsOf(topics.deadLetters)).map(({ value }) => codecs.deadLetter.decode(value!).reason);
  const entered = (await recordsOf(topics.events)).map(({ key }) => key.split('/').at(-1)!);
  console.log(
    `${dead.length} dead letters, ${devices.length - new Set(entered).size} of ${devices.length} fences missed`,
  );
  expect(dead).toEqual([]);
  expect(entered.sort()).toEqual(devices.sort());
});

it('an event goes to a webhook that was acknowledged before its location was sent', async () => {
  const receiver = await Receiver.start();
  onTestFinished(() => receiver.close());
  const paths: string[] = [];
  await paused(['sender'], async () => {
    for (let index = 0; index < 12; index++) {
      const { secret, publishable } = await newProject();
      await left(secret).putGeofence('gate', circle(0, 0, 100));
      const path = `/hook-${index}`;
      ok(await left(secret).post('/v1/webhooks', { url: receiver.url(path) }));
      ok(await left(publishable).post('/v1/track', { ...trackDefaults, deviceId: 'device', ...standing(0, 0) }));
      paths.push(path);
    }
  });
  await until(() => paths.every((path) => receiver.at(path).length > 0));
  await endWorkers();
});

it('a key that one node issued works on another at once, also after a pause', async () => {
  const right = (key: string): Client => at('right', key);
  const statuses: number[] = [];
  for (let index = 0; index < 40; index++) {
    const { secret } = await newProject();
    statuses.push((await right(secret).get('/v1/settings')).status);
  }
  let secret = '';
  await paused(['right'], async () => {
    ({ secret } = await newProject());
  });
  // A node that stood still may say that it lags, and is asked again.
  const afterPause = async (): Promise<number | false> => {
    const { status } = await right(secret).get('/v1/settings');
    return status !== 503 && status;
  };
  statuses.push(await until(afterPause));
  expect(statuses.filter((status) => status !== 200)).toEqual([]);
  expect((await right(secret.replace(/.{8}$/, '00000000')).get('/v1/settings')).status).toBe(401);
});
