import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PortError } from '../pipeline/errors.js';
import { type NewRecord, topics } from '../pipeline/ports.js';
import { readAll } from '../pipeline/stages/testing/node.js';
import { codecs } from '../schemas/codecs.js';
import type { Rejection } from '../schemas/records.js';
import { type DeviceApi, north, startDeviceApi } from '../testing/device-api.js';
import { until } from '../testing/until.js';
import { startRejectionCounter } from './rejections.js';

const decode = (records: readonly { readonly value: Buffer | null }[]): Rejection[] =>
  records.map(({ value }) => codecs.rejection.decode(value as Buffer));

/** Counts by `endpoint code param`. */
function totals(rejections: readonly Rejection[]): Record<string, number> {
  const sums: Record<string, number> = {};
  for (const { endpoint, code, param, count } of rejections) {
    const name = `${endpoint} ${code} ${param}`;
    sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}

describe('over HTTP', () => {
  let ingest: DeviceApi;
  beforeAll(async () => {
    ingest = await startDeviceApi({ stage: false, bounds: { replyTimeoutMs: 1 } });
  });
  afterAll(() => ingest.close());

  const post = (url: string, payload: string, authorization: string, type = 'application/json') =>
    ingest.app.inject({ method: 'POST', url, payload, headers: { authorization, 'content-type': type } });

  test('every location that broke a rule is counted by endpoint, code and field, and nothing else is', async () => {
    const good = { deviceId: 'd', ...north(0) };
    const { publishable, secret } = ingest;
    const track = (fields: object, key = publishable) => post('/v1/track', JSON.stringify(fields), key);
    await track({ ...good, latitude: 91 });
    await track({ ...good, latitude: 'x' });
    await track({ ...good, metadata: { 'named by the sender': [] } });
    await track({ ...good, anonymous: true });
    await track({ ...good, latitude: 91 }, 'no such key');
    await track(good);
    await post('/v1/track', '{', publishable);
    await post('/v1/track/replay', JSON.stringify({ replays: [good, {}, { ...good, accuracy: -1 }] }), publishable);
    await post('/v1/track/replay', JSON.stringify({ replays: [] }), publishable);
    const lines = [good, { ...good, ip: 'x' }, 5, {}, {}].map((line) => JSON.stringify(line)).join('\n');
    await post('/v1/locations', `${lines}\n{`, secret, 'application/x-ndjson');
    const expected = {
      'track invalid_parameter latitude': 2,
      'track invalid_parameter metadata': 1,
      'track not_available anonymous': 1,
      'replay invalid_parameter deviceId': 1,
      'replay invalid_parameter accuracy': 1,
      'bulk invalid_parameter ip': 1,
      'bulk invalid_parameter line': 2,
      'bulk invalid_parameter deviceId': 2,
    };
    const sum = (counts: Record<string, number>) => Object.values(counts).reduce((total, count) => total + count, 0);
    const stored = async () => decode(await readAll(ingest.node.embedded, topics.rejections));
    await until(async () => sum(totals(await stored())) >= sum(expected));
    expect(totals(await stored())).toEqual(expected);
    const [first] = await stored();
    expect(first).toMatchObject({ environment: 'test', project: ingest.node.readModel.projects()[0]?._id });
  });
});

describe('the counter', () => {
  const scope = { project: '0123456789abcdef01234567', environment: 'live' as const };
  const problem = { param: 'accuracy', rule: 'is required' };

  test('closing appends what was counted, one record for each kind', async () => {
    const appended: NewRecord[] = [];
    const counter = startRejectionCounter({ append: async (_, records) => void appended.push(...records) }, () => 5);
    for (let index = 0; index < 3; index++) counter.add(scope, 'bulk', problem);
    counter.add({ ...scope, environment: 'test' }, 'bulk', problem);
    await counter.close();
    expect(appended.map(({ key }) => key)).toEqual([`${scope.project}/live`, `${scope.project}/test`]);
    expect(decode(appended)).toMatchObject([
      { ...scope, endpoint: 'bulk', code: 'invalid_parameter', param: 'accuracy', count: 3, at: 5 },
      { environment: 'test', count: 1 },
    ]);
  });

  test('counts that the log refuses are added to those of the next second', async () => {
    const appended: NewRecord[] = [];
    let isFull = true;
    const append = async (_: unknown, records: readonly NewRecord[]) => {
      if (isFull) {
        isFull = false;
        counter.add(scope, 'track', problem);
        throw new PortError('overloaded', 'full');
      }
      appended.push(...records);
    };
    const counter = startRejectionCounter({ append }, () => 5);
    counter.add(scope, 'track', problem);
    await until(() => appended.length > 0);
    expect(decode(appended)).toMatchObject([{ count: 2 }]);
    await counter.close();
  });

  test('any other failure is reported', async () => {
    const append = async () => {
      throw new Error('disk full');
    };
    const counter = startRejectionCounter({ append }, () => 5);
    counter.add(scope, 'track', problem);
    await expect(counter.done).rejects.toThrow('disk full');
  });
});
