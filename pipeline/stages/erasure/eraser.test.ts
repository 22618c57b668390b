/** After an erasure only topics still have the user, until their retention ends. A user who returns is new. */
import { randomBytes } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { open } from 'lmdb';
import { afterEach, expect, test } from 'vitest';
import type { ChdbAnalytics } from '../../../backends/embedded/analytics.js';
import { codecs } from '../../../schemas/codecs.js';
import { dayMs, hourMs } from '../../../schemas/durations.js';
import { deriveId, freshId } from '../../../schemas/ids.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { Delivery, Location } from '../../../schemas/records.js';
import { exampleDetails } from '../../../schemas/testing/examples.js';
import { attemptRows, locationRows } from '../../../schemas/testing/rows.js';
import { isoTime } from '../../../schemas/wire/common.js';
import { until } from '../../../testing/until.js';
import { placeRecord } from '../../catalog/testing/fixtures.js';
import { createSecretCipher, encryptionKeyBytes } from '../../encryption.js';
import { createHeldLeases } from '../../held-lease.js';
import { type Analytics, deliverySources, topics } from '../../ports.js';
import { isErasureCommand } from '../../records/erasure-command.js';
import { projectErasures } from '../../records/project-erasures.js';
import { createSweeperLeases } from '../../sweeper.js';
import { createAnalyticsSink } from '../analytics/sink.js';
import { openTestAnalytics } from '../testing/analytics.js';
import { beaconRecord, geofenceRecord, location, projectRecord, readAll, TestNode } from '../testing/node.js';
import { createTestTables } from '../testing/tables.js';
import { attemptRecord, withoutRequest } from '../webhooks/attempt.js';
import { webhookRecord } from '../webhooks/testing/webhooks.js';
import { createEraser, type EraserParts } from './eraser.js';

const scope = { project: projectRecord()._id, environment: 'test' } as const;
const secretCipher = createSecretCipher(randomBytes(encryptionKeyBytes));
const webhook = '65f0a1b2c3d4e5f600000001';
/** Of virtual time: only `complete` lets it pass. */
const graceMs = 10 * 60 * 1_000;

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

interface Options {
  /** Replaces ClickHouse's answer to statements that change something. */
  readonly command?: Analytics['command'];
  /** Makes ClickHouse refuse statements. */
  readonly isRefused?: (statement: string) => boolean;
  /** Erasers that share the stores. */
  readonly erasers?: number;
}

async function start({ command, isRefused = () => false, erasers: count = 1 }: Options = {}) {
  const node = await TestNode.open();
  const analytics = await openTestAnalytics();
  await createTestTables(analytics);
  await node.configure({ kind: 'project', record: projectRecord() }, { kind: 'geofence', record: geofenceRecord() });
  node.start();
  const { log, positions, stateStore: states, deliveryQueue: deliveries } = node.embedded;
  const bounds = { maxRows: 30_000, maxDelayMs: 20, maxDeadLetterShare: 0.5 };
  const storing = createGate();
  const asked = { positions: 0 };
  const sink = createAnalyticsSink({
    log,
    positions,
    analytics: {
      ...analytics,
      async insert(...given) {
        await storing.open();
        return analytics.insert(...given);
      },
    },
    clock: Date.now,
    bounds,
  });
  const time = { offsetMs: 0 };
  const problems: unknown[] = [];
  const failed: string[] = [];
  const allowed = (statement: string): string => {
    if (isRefused(statement)) throw new Error('refused');
    return statement;
  };
  const leases = { granted: 0, refused: 0 };
  const take = createSweeperLeases(createHeldLeases(node.embedded.values));
  const parts: EraserParts = {
    readModel: node.readModel,
    writer: node.writer,
    async takeLease(name, closing) {
      const lease = await take(name, closing);
      leases[lease ? 'granted' : 'refused'] += 1;
      return lease;
    },
    log,
    states,
    positions: {
      async get(...given) {
        asked.positions += 1;
        return positions.get(...given);
      },
    },
    deliveries,
    secretCipher,
    analytics: {
      query: async (statement, parameters, signal) => analytics.query(allowed(statement), parameters, signal),
      command: command ?? (async (statement, signal) => analytics.command(allowed(statement), signal)),
    },
    retentionMs: 30 * dayMs,
    clock: () => Date.now() + time.offsetMs,
    onProblem: (problem) => problems.push(problem),
    onFailed: (ids) => failed.push(...ids),
    timing: { intervalMs: 20, graceMs, patienceMs: 20_000, retryMs: 20, maxRetryMs: 50 },
  };
  const erasers = Array.from({ length: count }, () => createEraser(parts));
  for (const eraser of erasers) eraser.start();
  // A webhook stage without webhooks passes everything.
  const passing = await passDeliverySources(node);
  endings.push(async () => {
    await Promise.all(erasers.map((eraser) => eraser.stop()));
    await passing.stop();
    await node.stop();
    await sink.close();
    await analytics.close();
    await node.dispose();
    expect(problems).toEqual([]);
  });

  /** Requests an erasure of each name at once. */
  const erase = (subject: ErasureRecord['subject'], ...names: [string, ...string[]]): Promise<string> =>
    eraseAt(node.writer.nextTimestamp(), subject, ...names);
  async function eraseAt(
    createdAt: number,
    subject: ErasureRecord['subject'],
    ...names: [string, ...string[]]
  ): Promise<string> {
    const records = names.map((name) => {
      const _id = freshId();
      const target = secretCipher.encrypt(name, _id);
      return { _id, ...scope, createdAt, updatedAt: createdAt, subject, target, completedAt: null };
    });
    await node.configure(...records.map((record) => ({ kind: 'erasure' as const, record })));
    return records[0]!._id;
  }
  const isDone = (id: string): boolean => (node.readModel.erasure(scope, id)?.completedAt ?? null) !== null;
  async function complete(id: string): Promise<void> {
    time.offsetMs += graceMs;
    await until(() => isDone(id));
  }
  return {
    node,
    analytics,
    time,
    problems,
    failed,
    /** Rows are stored while it is open. */
    storing,
    /** How often the erasers asked what is stored. */
    asked,
    leases,
    stop: () => Promise.all(erasers.map((eraser) => eraser.stop())),
    erase,
    eraseAt,
    isDone,
    complete,
    /** Returns the commands on topic `locations`, as names of devices. */
    async commandedDevices() {
      const all = (await readAll(node.embedded, topics.locations)).map(({ value }) => codecs.location.decode(value!));
      return all.filter(isErasureCommand).map(({ deviceId }) => deviceId);
    },
    async eraseAll(subject: ErasureRecord['subject'], name: string) {
      const id = await erase(subject, name);
      await complete(id);
      return id;
    },
    async count(table: string, condition = '1') {
      const [row] = await analytics.query<{ n: number }>(`SELECT count() AS n FROM ${table} FINAL WHERE ${condition}`);
      return row?.n ?? 0;
    },
  };
}

/** Lets those who await it pass, unless it is held. */
function createGate() {
  let opened = Promise.resolve();
  let release = () => {};
  return {
    open: () => opened,
    hold() {
      opened = new Promise((resolve) => {
        release = resolve;
      });
    },
    release: () => release(),
  };
}

/** Keeps the positions of the delivery queue at the ends of their topics. */
async function passDeliverySources({ embedded: { log, deliveryQueue } }: TestNode) {
  const claims = await Promise.all(deliverySources(log).map(deliveryQueue.claim));
  let isStopped = false;
  async function run(): Promise<void> {
    while (!isStopped) {
      for (const claim of claims) {
        const { offset: expectedOffset } = await deliveryQueue.position(claim.source);
        const nextOffset = await log.end(claim.source.topic, claim.source.partition);
        if (nextOffset > expectedOffset) await deliveryQueue.add(claim, { expectedOffset, nextOffset, deliveries: [] });
      }
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
  const running = run();
  return {
    claims,
    stop: () => {
      isStopped = true;
      return running;
    },
  };
}

let count = 0;
/** Inside the geofence, unless it is far. */
const at = (deviceId: string, userId: string | null, fields: Partial<Location> = {}): Location => {
  const nowMs = Date.now();
  return location({
    ...scope,
    id: freshId(),
    deviceId,
    userId,
    occurredAt: nowMs + count++,
    receivedAt: nowMs,
    ...fields,
  });
};

/** The event was received then, and its delivery is queued now. */
function delivery(id: string, user: object, receivedAtMs = Date.now()): Delivery {
  const event = { _id: id, type: 'bought', actualCreatedAt: isoTime(receivedAtMs), user };
  const body = Buffer.from(JSON.stringify({ event, user }));
  return { id, webhook, ...scope, orderKey: 'k', events: [id], body, reason: 'event', createdAt: Date.now() };
}

async function queue({ node }: Awaited<ReturnType<typeof start>>, ...deliveries: Delivery[]): Promise<void> {
  const { deliveryQueue } = node.embedded;
  const claim = await deliveryQueue.claim({ topic: topics.deliveries, partition: 0 });
  const due = deliveries.map((each) => ({ webhook, dueAtMs: Date.now() + dayMs, value: codecs.delivery.encode(each) }));
  const { nextOffset } = claim;
  expect(await deliveryQueue.add(claim, { expectedOffset: nextOffset, nextOffset, deliveries: due })).toBe('committed');
}

/**
 * Tables of LMDB whose records hold one of the texts. Topics forget by retention. A short text of letters alone may be
 * part of something encrypted.
 */
function tablesWith(folder: string, texts: readonly string[]): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(({ name }) => name === 'data.mdb')
    .flatMap(({ parentPath }) => {
      const root = open({ path: parentPath, noSubdir: false, readOnly: true, maxDbs: 64 });
      const names = [...root.getKeys()].map(String).filter((name) => !name.startsWith('topic:'));
      const found = names.filter((name) => {
        const table = root.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary' });
        return Array.from(table.getRange()).some(({ key, value }) =>
          texts.some((text) => Buffer.concat([key, value]).includes(text)),
        );
      });
      return found.map((name) => join(parentPath.slice(folder.length), name));
    });
}

async function rowsWith(analytics: ChdbAnalytics, texts: readonly string[]): Promise<string[]> {
  const tables = ['locations', 'events', 'users', 'webhook_attempts', 'rejections'];
  const counts = await Promise.all(
    tables.map(async (table) => {
      const rows = await analytics.query<object>(`SELECT * FROM ${table}`);
      const found = rows.filter((row) => texts.some((text) => JSON.stringify(row).includes(text)));
      return found.length > 0 ? `${found.length} in ${table}` : [];
    }),
  );
  return counts.flat();
}

test('an erased user is in no state, table or pending delivery; others stay', async () => {
  const place = await start();
  const { node, analytics } = place;
  const texts = ['Ada-4711', 'ada-phone', 'ada-tablet', 'ada-secret-hobby'];
  await node.append(
    at('ada-phone', null),
    at('ada-phone', 'Ada-4711', {
      details: exampleDetails({ metadata: JSON.stringify({ hobby: 'ada-secret-hobby' }) }),
    }),
    at('ada-tablet', 'Ada-4711'),
    at('bert-phone', 'Bert'),
    at('bert-phone', 'Bert', { latitude: 60 }),
  );
  await until(async () => (await place.count('users')) === 3 && (await place.count('events')) >= 3);
  const [{ user: id } = { user: '' }] = await analytics.query<{ user: string }>(
    "SELECT user FROM users FINAL WHERE device_id = 'ada-phone'",
  );
  await queue(
    place,
    delivery('1', { _id: id, userId: 'Ada-4711' }),
    delivery('2', { _id: 'unknown', userId: 'Ada-4711' }),
    delivery('3', { _id: 'other', userId: 'Bert' }),
  );
  expect(tablesWith(node.folder, texts)).not.toEqual([]);
  expect(await rowsWith(analytics, texts)).not.toEqual([]);

  await place.eraseAll('user', 'Ada-4711');
  // Only her user record names the devices.
  expect(tablesWith(node.folder, [...texts, id])).toEqual([]);
  expect(await rowsWith(analytics, [...texts, id])).toEqual([]);
  expect(await node.state(at('bert-phone', 'Bert'))).toBeDefined();
  expect(await place.count('locations', "user_id = 'Bert'")).toBe(2);
  const waiting = await node.embedded.deliveryQueue.waiting({ topic: topics.deliveries, partition: 0 }, webhook, 10);
  expect(waiting.map(({ value }) => codecs.delivery.decode(value).id)).toEqual(['3']);
  expect(await node.embedded.deliveryQueue.size()).toBe(1);
});

// A conversion of a device without a record has names and no `_id`. Only the time of the delivery or the attempt told
// whether it was erased. So an attempt after the request stayed for a month, and a delivery that was queued after it
// was sent.
test('regression: what is delivered after the request, about an event from before, is erased by its name', async () => {
  const place = await start();
  const { node, analytics } = place;
  const requestedAt = Date.now() - 1;
  const names = { userId: 'Ada', deviceId: 'unknown' };
  const failure = withoutRequest('expired', 'https://receiver.example/', Date.now());
  const attempt = (about: Delivery) => attemptRecord(about, 1, failure, { state: 'given_up', nextAttemptAtMs: null });
  const before = delivery('1', names, requestedAt - 1);
  const after = delivery('2', names, requestedAt + 1);
  await queue(place, before, after);
  await analytics.insert('webhook_attempts', attemptRows([attempt(before), attempt(after)]));
  await place.complete(await place.eraseAt(requestedAt, 'user', 'Ada'));
  expect(await analytics.query('SELECT delivery FROM webhook_attempts')).toEqual([{ delivery: '2' }]);
  const waiting = await node.embedded.deliveryQueue.waiting({ topic: topics.deliveries, partition: 0 }, webhook, 10);
  expect(waiting.map(({ value }) => codecs.delivery.decode(value).id)).toEqual(['2']);
});

test('of a device that several users share only the named one is erased; a deviceId erases them all', async () => {
  const place = await start();
  const { node } = place;
  await node.append(at('shared', 'Ada'), at('shared', 'Bert'), at('other', 'Bert'));
  await until(async () => (await place.count('users')) === 3);
  await place.eraseAll('user', 'Ada');
  expect((await node.state(at('shared', null)))?.users.map(({ userId }) => userId)).toEqual(['Bert']);
  expect(await place.count('users')).toBe(2);
  await place.eraseAll('user', 'shared');
  expect(await node.state(at('shared', null))).toBeUndefined();
  expect((await node.state(at('other', null)))?.users.map(({ userId }) => userId)).toEqual(['Bert']);
  expect(await place.count('users')).toBe(1);
});

// A late location is stored with a record that its device has. It names a user of which the device has no record, and
// the erasure of this user deleted all rows of the other one, and the user was no longer found.
test('regression: a late location of a user without a record does not erase the user who has the device', async () => {
  const place = await start();
  const { node } = place;
  const nowMs = Date.now();
  await node.append(
    at('shared', 'Bert', { occurredAt: nowMs }),
    at('shared', 'Ada', { occurredAt: nowMs - hourMs }),
    at('ada-phone', 'Ada'),
  );
  await until(async () => (await place.count('users')) === 2);
  expect(await place.count('locations', "result = 'stale' AND user_id = 'Ada'")).toBe(1);
  const bert = "device_id = 'shared' AND user_id = 'Bert'";
  await until(async () => (await place.count('events', bert)) === 1);
  const { id } = (await node.state(at('shared', 'Bert')))!.users[0]!;
  await queue(place, delivery('1', { _id: id, userId: 'Bert' }));
  await place.eraseAll('user', 'Ada');
  for (const table of ['users', 'locations', 'events']) {
    expect(await place.count(table, bert), table).toBe(1);
    expect(await place.count(table), table).toBe(1);
  }
  expect(await node.embedded.deliveryQueue.size()).toBe(1);
});

test('a user who returns starts anew, with another _id, and enters again', async () => {
  const place = await start();
  const { node } = place;
  await node.append(at('phone', 'Ada'));
  await until(async () => (await place.count('users')) === 1);
  const [before] = (await node.state(at('phone', 'Ada')))?.users ?? [];
  const erasure = await place.erase('user', 'Ada');
  await until(async () => (await node.state(at('phone', 'Ada'))) === undefined);
  await node.append(at('phone', 'Ada'));
  await place.complete(erasure);
  const [after] = (await node.state(at('phone', 'Ada')))?.users ?? [];
  expect(after?.id).toEqual(expect.any(String));
  expect(after?.id).not.toBe(before?.id);
  await until(async () => (await place.count('events', `user = '${after?.id}'`)) === 1);
  expect(await place.count('users')).toBe(1);
});

// The first pass deleted the rows by which the last one finds the record, so rows that were stored in between stayed.
test('regression: what continues the record until the state is erased, and is stored later, is erased', async () => {
  const place = await start();
  const { node } = place;
  const requestedAt = Date.now();
  await node.append(at('phone', 'Ada', { receivedAt: requestedAt - 1 }));
  await until(async () => (await place.count('users')) === 1);
  place.storing.hold();
  await node.append(at('phone', 'Ada', { receivedAt: requestedAt + 1 }));
  const erasure = await place.eraseAt(requestedAt, 'user', 'Ada');
  await until(() => place.asked.positions > 0);
  expect(await place.count('locations')).toBe(1);
  place.storing.release();
  await place.complete(erasure);
  expect(await place.count('users')).toBe(0);
  expect(await place.count('locations')).toBe(0);
  expect(await place.count('events')).toBe(0);
});

// The user took over the anonymous record that was left of the device. It was older than the erasure. When the first
// pass could not delete rows, the last one found the device again, and erased what was received after the erasure.
test('a user who returns before the erasure is done, on a device that was used without a name, is kept', async () => {
  let isAway = true;
  const place = await start({ isRefused: (statement) => isAway && statement.startsWith('ALTER') });
  const { node } = place;
  await node.append(at('shared', 'Ada'), at('shared', null));
  await until(async () => (await place.count('users')) === 2);
  const erasure = await place.erase('user', 'Ada');
  await until(async () => (await node.state(at('shared', null)))?.users.length === 1);
  const { id } = (await node.state(at('shared', null)))!.users[0]!;
  await node.append(at('shared', 'Ada'), at('shared', 'Ada'));
  await until(async () => (await place.count('locations', `user = '${id}'`)) === 3);
  // The deletion was attempted, and refused.
  await until(() => place.problems.length > 0);
  isAway = false;
  await place.complete(erasure);
  place.problems.splice(0);
  expect((await node.state(at('shared', null)))?.users).toMatchObject([{ id, userId: 'Ada' }]);
  expect(await place.count('locations', `user = '${id}'`)).toBe(3);
  expect(await place.count('users', "user_id = 'Ada'")).toBe(1);
  // A later erasure finds the record.
  await place.eraseAll('user', 'Ada');
  expect(await node.state(at('shared', null))).toBeUndefined();
});

test('what was received before the erasure and comes late is erased as well', async () => {
  const place = await start();
  const { node } = place;
  const late = at('phone', 'Ada', { receivedAt: Date.now() - 1 });
  const erasure = await place.erase('user', 'Ada');
  await until(
    async () =>
      (await node.embedded.log.end(
        topics.locations,
        node.embedded.log.partitionOf(topics.locations, `${scope.project}/test/Ada`),
      )) > 0,
  );
  await node.append(late);
  await place.complete(erasure);
  expect(await place.count('users')).toBe(0);
  expect(await place.count('locations')).toBe(0);
});

// The server's clock was three hours ahead, and was set back before the request. Nothing that bore a time of these
// hours was erased, and the status was done.
test('regression: what was received while the clock was ahead is erased; who returns afterwards is kept', async () => {
  const place = await start();
  const { node } = place;
  const ahead = Date.now() + 3 * hourMs;
  await node.append(
    at('phone', 'Ada', { receivedAt: ahead }),
    at('shared', null, { receivedAt: ahead }),
    at('shared', 'Bert', { receivedAt: ahead }),
    at('shared', 'Carl', { receivedAt: ahead }),
  );
  await until(async () => (await place.count('users')) === 3);
  await until(async () => (await place.count('events')) === 3);
  await queue(
    place,
    delivery('1', { _id: 'unknown', userId: 'Ada' }, ahead),
    delivery('2', { _id: 'other', userId: 'Bert' }, ahead),
  );
  const erasure = await place.erase('user', 'Ada', 'Carl');
  await until(async () => (await node.state(at('phone', 'Ada'))) === undefined);
  await until(async () => (await node.state(at('shared', null)))?.users.length === 1);
  await node.append(at('phone', 'Ada'), at('shared', 'Carl'));
  await until(async () => (await place.count('locations', "user_id IN ('Ada', 'Carl')")) === 2);
  await place.complete(erasure);
  await until(() => node.readModel.erasures(scope).every(({ completedAt }) => completedAt !== null));

  const names = async (device: string) => (await node.state(at(device, null)))?.users.map(({ userId }) => userId);
  expect(await names('phone')).toEqual(['Ada']);
  expect(await names('shared')).toEqual(['Carl', 'Bert']);
  for (const table of ['locations', 'users', 'events'])
    expect(await place.count(table, "user_id IN ('Ada', 'Carl')"), table).toBe(2);
  const waiting = await node.embedded.deliveryQueue.waiting({ topic: topics.deliveries, partition: 0 }, webhook, 10);
  expect(waiting.map(({ value }) => codecs.delivery.decode(value).id)).toEqual(['2']);
});

test('rows written again are erased until the topics have forgotten; then the name is forgotten too', async () => {
  const place = await start();
  const { node, analytics } = place;
  await node.append(at('phone', 'Ada'));
  await until(async () => (await place.count('users')) === 1);
  const id = await place.eraseAll('user', 'Ada');
  expect(await place.count('locations')).toBe(0);
  // Like a sink that reads its topic again.
  const outcome = (await node.outcomes())[0]!;
  await analytics.insert('locations', locationRows([outcome]));
  expect(await place.count('locations')).toBe(1);
  place.time.offsetMs = dayMs;
  await until(async () => (await place.count('locations')) === 0);
  const isForgotten = () => {
    place.time.offsetMs += dayMs;
    return node.readModel.erasure(scope, id) === undefined;
  };
  await until(isForgotten, { pollEveryMs: 2 });
});

// The rows of the next three hours were erased as well, whenever rows that were written again were looked for.
test('regression: a user who returns after an erasure by a clock that was ahead keeps what comes then', async () => {
  const place = await start();
  const { node, analytics } = place;
  await node.append(at('phone', 'Ada'));
  await until(async () => (await place.count('users')) === 1);
  const [outcome] = await node.outcomes();
  const id = await place.eraseAt(Date.now() + 3 * hourMs, 'user', 'Ada');
  // The grace begins with the first pass.
  await until(async () => (await place.commandedDevices()).length > 0);
  await place.complete(id);
  expect(await place.count('locations')).toBe(0);
  const returned = at('phone', 'Ada', { receivedAt: Date.now() + place.time.offsetMs + 1 });
  await node.append(returned);
  await until(async () => (await place.count('users')) === 1);
  await analytics.insert('locations', locationRows([outcome!]));
  expect(await place.count('locations')).toBe(2);
  place.time.offsetMs += 2 * hourMs;
  await until(async () => (await place.count('locations')) === 1);
  expect(await place.count('locations', `id = '${returned.id}'`)).toBe(1);
  expect(await place.count('users')).toBe(1);
});

test('an erased event is in no table and no pending delivery', async () => {
  const place = await start();
  const { node } = place;
  await node.append(at('phone', 'Ada'), at('tablet', 'Ada'));
  await until(async () => (await place.count('events')) === 2);
  const [event] = await node.events();
  await queue(place, delivery(event!.id, { _id: 'x' }), delivery('other', { _id: 'x' }));
  await place.eraseAll('event', event!.id);
  expect(await place.count('events')).toBe(1);
  expect(await place.count('users')).toBe(2);
  const waiting = await node.embedded.deliveryQueue.waiting({ topic: topics.deliveries, partition: 0 }, webhook, 10);
  expect(waiting.map(({ value }) => codecs.delivery.decode(value).id)).toEqual(['other']);
});

test('a deleted project leaves nothing but topics, also of what was on its way; others stay', async () => {
  const place = await start();
  const { node, analytics } = place;
  const other = { project: deriveId('project', 'other'), environment: 'live' } as const;
  const records = [
    { kind: 'project', record: projectRecord({ _id: other.project }) },
    { kind: 'geofence', record: geofenceRecord({ ...other, _id: deriveId('geofence', 'other') }) },
    { kind: 'geofence', record: geofenceRecord({ _id: deriveId('geofence', 'hidden'), deleteAfter: 1 }) },
    { kind: 'beacon', record: beaconRecord() },
    { kind: 'place', record: placeRecord() },
    { kind: 'webhook', record: webhookRecord({ _id: webhook, ...scope }) },
  ] as const;
  await node.configure(...records);
  await place.erase('user', 'Ada-4711');
  // The clock was ahead when the tablet came, and was set back.
  const ahead = { receivedAt: Date.now() + 3 * hourMs };
  await node.append(at('phone', 'Ada-4711'), at('tablet', null, ahead), at('other', 'Bert', other));
  await until(async () => (await place.count('users')) === 3);
  const texts = [scope.project, 'phone', 'tablet', 'Ada-4711'];
  expect(tablesWith(node.folder, texts)).not.toEqual([]);

  const erasures = projectErasures(scope.project, node.writer.nextTimestamp(), node.readModel);
  // An attempt to delete that was refused: the project stays, with all that it has.
  await node.writer.write(erasures);
  await place.eraseAll('event', 'of no event');
  expect(node.readModel.geofences({ ...scope, limit: 10, orderBy: 'createdAt' }).items).toHaveLength(1);

  const end = node.catalog.refresh;
  node.catalog.refresh = () => {};
  // The grace of the erasures is not over, or they could be complete before the late phone. A first pass did delete its
  // row without having seen it, and its state was never removed.
  place.time.offsetMs = 0;
  await node.remove('project', scope.project);
  // Evaluated by the project as it was.
  await node.append(at('late phone', 'Ada-4711'));
  await until(async () => (await place.count('users', "device_id = 'late phone'")) === 1);
  node.catalog.refresh = end;
  const [test] = erasures;
  await place.complete(test!.id);
  // Accepted by a node that did not know of the deletion.
  await node.append(...Array.from({ length: 300 }, () => at('late phone', 'Ada-4711')), at('other', 'Bert', other));
  await until(async () => (await place.count('locations', "device_id = 'other'")) === 2);
  expect(await node.deadLetters()).toEqual([]);

  expect(node.readModel.recordsOf(scope, 100)).toEqual([]);
  expect(node.readModel.erasures(scope).map(({ subject }) => subject)).toEqual(['project']);
  // The rest are the erasure itself, and what the read model remembers of deletions.
  expect(tablesWith(node.folder, ['phone', 'tablet', 'Ada-4711'])).toEqual([]);
  expect(await rowsWith(analytics, texts)).toEqual([]);
  expect(await node.state(at('other', 'Bert', other))).toBeDefined();
  expect(node.readModel.recordsOf(other, 100)).toHaveLength(1);
  expect(await place.count('users')).toBe(1);
});

// Anyone with a publishable key could name a user from so many devices that the user could not be erased any more: the
// statement with the ids of all of them was too long for ClickHouse. Each attempt wrote the commands again.
test('a user with more devices than a statement may name is erased, with one command a device', async () => {
  const place = await start();
  const { node } = place;
  const devices = Array.from({ length: 10_500 }, (_, index) => `phone-${index}`);
  await node.append(...devices.map((device) => at(device, 'Ada-4711', { latitude: 60 })), at('bert-phone', 'Bert'));
  await until(async () => (await place.count('users')) === devices.length + 1);
  const erasure = await place.erase('user', 'Ada-4711');
  await until(async () => (await place.count('users')) === 1);
  await place.complete(erasure);

  expect(tablesWith(node.folder, ['Ada-4711', 'phone-10499'])).toEqual([]);
  expect(await place.count('users')).toBe(1);
  expect(await place.count('locations')).toBe(1);
  expect((await place.commandedDevices()).sort()).toEqual([...devices, 'Ada-4711'].sort());
});

// Each name stands nine times in a query, and fifty erasures shared it.
test('fifty of the longest names are erased together', async () => {
  const place = await start();
  const { node } = place;
  const names = Array.from({ length: 50 }, (_, index) => `${index}`.padEnd(256, '\u6f22'));
  await node.append(...names.map((name, index) => at(`phone-${index}`, name)));
  await until(async () => (await place.count('users')) === names.length);
  await place.erase('user', ...(names as [string]));
  place.time.offsetMs += graceMs;
  await until(() => node.readModel.erasures(scope).every(({ completedAt }) => completedAt !== null));
  expect(await place.count('users')).toBe(0);
  expect(tablesWith(node.folder, names)).toEqual([]);
});

// The lease was free again after a second, so each node ran every pass.
test('regression: of two nodes one runs the passes', async () => {
  const place = await start({ erasers: 2 });
  const { node } = place;
  await node.append(at('phone', 'Ada'));
  await until(async () => (await place.count('users')) === 1);
  const id = await place.erase('user', 'Ada');
  await until(async () => (await place.commandedDevices()).includes('phone'));
  await place.complete(id);
  await until(() => place.leases.refused > 3);
  expect(place.leases.granted).toBe(1);
  expect((await place.commandedDevices()).toSorted()).toEqual(['Ada', 'phone']);
});

// One erasure that failed kept all others of its environment running, and was itself dropped when its topics' retention
// was over, although nothing had been erased.
test('an erasure that fails lets others complete, writes no more commands, and is not forgotten', async () => {
  let isBroken = true;
  const place = await start({
    isRefused: (statement) => isBroken && statement.includes('Ada') && statement.startsWith('SELECT count()'),
  });
  const { node } = place;
  await node.append(at('phone', 'Ada'), at('tablet', 'Bert'));
  await until(async () => (await place.count('users')) === 2);
  const failing = await place.erase('user', 'Ada', 'Bert');
  const other = node.readModel.erasures(scope).find(({ _id }) => _id !== failing)!._id;
  await place.complete(other);
  expect(await place.count('users', "user_id = 'Bert'")).toBe(0);
  const commands = (await place.commandedDevices()).length;

  place.time.offsetMs += 31 * dayMs;
  const failed = place.problems.length;
  await until(() => place.problems.length >= failed + 3);
  expect(await place.commandedDevices()).toHaveLength(commands);
  expect(place.isDone(failing)).toBe(false);
  isBroken = false;
  await place.complete(failing);
  expect(await place.count('users')).toBe(0);
  expect(new Set(place.problems.splice(0).map(String))).toEqual(new Set(['Error: refused']));
});

// It was repeated every five minutes, without end.
test('after the loss of the encryption key, what is complete is left alone, and what runs has failed', async () => {
  const place = await start();
  const lost = createSecretCipher(randomBytes(encryptionKeyBytes));
  const lostErasure = (completedAt: number | null): ErasureRecord => {
    const _id = freshId();
    const [createdAt, target] = [place.node.writer.nextTimestamp(), lost.encrypt('Ada', _id)];
    return { _id, ...scope, createdAt, updatedAt: createdAt, subject: 'user', target, completedAt };
  };
  await place.node.append(at('phone', 'Bob'));
  await until(async () => (await place.count('users')) === 1);
  await place.node.configure({ kind: 'erasure', record: lostErasure(Date.now()) });
  await place.eraseAll('user', 'Bob');
  expect(await place.count('users')).toBe(0);
  expect(place.problems).toEqual([]);
  const running = lostErasure(null);
  await place.node.configure({ kind: 'erasure', record: running });
  await until(() => place.failed.length > 0);
  // Beside it, others are done, and their passes find it no more.
  await place.eraseAll('user', 'Cid');
  expect(place.failed).toEqual([running._id]);
  expect(place.isDone(running._id)).toBe(false);
});

// It was repeated for two minutes while the node stopped, longer than a supervisor waits.
test('regression: a deletion that fails while the eraser stops is left to the next node', async () => {
  let attempts = 0;
  const place = await start({
    command: (_statement, signal) =>
      new Promise((_, reject) => {
        attempts += 1;
        signal?.addEventListener('abort', () => reject(new Error('ClickHouse does not answer')));
      }),
  });
  await place.node.append(at('phone', 'Ada'));
  await until(async () => (await place.count('users')) === 1);
  const id = await place.erase('user', 'Ada');
  place.time.offsetMs += graceMs;
  await until(() => attempts > 0);
  await place.stop();
  expect(place.isDone(id)).toBe(false);
});
