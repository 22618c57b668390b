import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import { defaultSettings } from '../../../schemas/json/project.js';
import type { Location } from '../../../schemas/records.js';
import { exampleDetails } from '../../../schemas/testing/examples.js';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { until } from '../../../testing/until.js';
import { type StateStore, type TrackReply, topics } from '../../ports.js';
import {
  beaconRecord,
  geofenceRecord,
  idOf,
  keyOf,
  location,
  locationRecord,
  projectRecord,
  TestNode,
  withPartitionsLost,
  withPositionRepairedMeanwhile,
} from '../testing/node.js';
import { maxEventMetadata } from './metadata-limit.js';

let node: TestNode;

beforeEach(async () => {
  node = await TestNode.open();
  await node.configure({ kind: 'project', record: projectRecord() });
});
afterEach(() => node.dispose());

const shop = geofenceRecord({ externalId: 'shop', center: [10, 50], radius: 100 });
const inside = { longitude: 10, latitude: 50 };
const outside = { longitude: 10.01, latitude: 50 };

let made = 0;
/** Returns a location one second after the previous one. */
const at = (fields: Partial<Location>): Location => {
  made += 1;
  return location({ id: idOf('location', made), occurredAt: made * 1_000, receivedAt: made * 1_000 + 5, ...fields });
};

const types = async () => (await node.events()).map(({ type }) => type);

describe('a location from the log', () => {
  test('enters, dwells in and exits a geofence', async () => {
    const settings = { ...defaultSettings, dwellEvents: true, defaultDwellThreshold: 5 };
    await node.configure(
      { kind: 'project', record: projectRecord({ settings: { test: settings, live: defaultSettings } }) },
      { kind: 'geofence', record: shop },
    );
    const minute = 60_000;
    const stay = (minutes: number, where: object) => at({ ...where, occurredAt: minutes * minute });
    node.start();
    await node.append(stay(1, outside), stay(2, inside), stay(4, inside), stay(8, inside), stay(12, outside));
    await node.drained();

    const [entry, dwell, exit] = await node.events();
    expect([entry?.type, dwell?.type, exit?.type]).toEqual([
      'user.entered_geofence',
      'user.dwelled_in_geofence',
      'user.exited_geofence',
    ]);
    expect(entry).toMatchObject({
      createdAt: 2 * minute,
      duration_min: null,
      geofence: { id: shop._id, tag: 'shop', radius: 100 },
    });
    expect(dwell?.duration_min).toBe(6);
    expect(exit?.duration_min).toBe(10);
    const outcomes = await node.outcomes();
    expect(outcomes.map(({ events }) => events)).toEqual([[], [entry?.id], [], [dwell?.id], [exit?.id]]);
    expect(outcomes.map(({ geofences }) => geofences.length)).toEqual([0, 1, 1, 1, 0]);
    expect(entry?.id).toBe(
      deriveId(shop.project, 'test', 'device', outcomes[1]?.location.id as string, shop._id, 'user.entered_geofence'),
    );
  });

  test('ranges beacons: present, absent, and none in range', async () => {
    const beacon = beaconRecord({ externalId: 'door' });
    await node.configure({ kind: 'beacon', record: beacon });
    const { type, group, major, minor } = beacon;
    node.start();
    await node.append(
      at({ beacons: [{ type, group, major, minor, rssi_dbm: -60 }] }),
      at({ beacons: null }),
      at({ beacons: [] }),
    );
    await node.drained();
    const [entry, exit] = await node.events();
    expect(await types()).toEqual(['user.entered_beacon', 'user.exited_beacon']);
    expect(entry).toMatchObject({ geofence: null, beacon: { id: beacon._id, group, major, minor } });
    expect(exit?.duration_min).toBeCloseTo(2 / 60);
  });

  test('is evaluated with a geofence that was saved before', async () => {
    node.start();
    for (let round = 0; round < 20; round++) {
      const geofence = geofenceRecord({ externalId: `round ${round}`, center: [round, 50] });
      await node.configure({ kind: 'geofence', record: geofence });
      await node.append(at({ longitude: round, latitude: 50, deviceId: `device ${round}` }));
    }
    await node.drained();
    expect(await types()).toEqual(Array(20).fill('user.entered_geofence'));
  });

  test('makes no event for a geofence deleted meanwhile', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    node.start();
    await node.append(at(inside));
    await node.drained();
    await node.remove('geofence', shop._id);
    await node.append(at(outside));
    await node.drained();
    expect(await types()).toEqual(['user.entered_geofence']);
    expect((await node.state(location()))?.users[0]?.geofences).toEqual([]);
  });

  test('has an outcome and no events when it is a repeat or stale', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    const first = at(inside);
    node.start();
    await node.append(first, { ...first, id: idOf('again', 1) }, { ...at(outside), occurredAt: 1 });
    await node.drained();
    expect((await node.outcomes()).map(({ result }) => result)).toEqual(['applied', 'repeat', 'stale']);
    expect(await types()).toEqual(['user.entered_geofence']);
  });
});

describe('replies', () => {
  test('to a request of many locations have the user once, and the events of each location', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    await node.append(...[inside, outside, inside].map((where) => at({ ...where, replyTo: 'here/1' })));
    node.start();
    await until(() => node.replies.length === 3);
    const told = node.replies.map(({ body }) => JSON.parse(body) as TrackReply);
    expect(told.map(({ events }) => events.length)).toEqual([1, 1, 1]);
    expect(told.map(({ user }) => user?.geofences.length)).toEqual([undefined, undefined, 1]);
  });

  test('leave out geofences that were deleted and created again with the same tag and externalId', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    node.start();
    await node.append(at(inside));
    await node.drained();
    await node.remove('geofence', shop._id);
    await node.configure({ kind: 'geofence', record: { ...shop, createdAt: shop.createdAt + 1 } });
    const first = made * 1_000;
    await node.append(
      at({ ...outside, occurredAt: first - 1, replyTo: 'here/1' }),
      at({ ...inside, replyTo: 'here/2' }),
    );
    await until(() => node.replies.length === 2);
    const [stale, entered] = node.replies.map(({ body }) => JSON.parse(body) as TrackReply);
    expect(stale).toMatchObject({ result: 'stale', user: { geofences: [] } });
    expect(entered).toMatchObject({
      events: [{ type: 'user.entered_geofence' }],
      user: { geofences: [{ _id: shop._id }] },
    });
  });

  test('have the user and events as of their location', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    node.start();
    await node.append(
      at({ ...inside, replyTo: 'here/1', userId: 'ann' }),
      at({ ...outside, replyTo: 'here/2', userId: 'ann' }),
      at(inside),
    );
    await node.drained();
    await until(() => node.replies.length === 2);
    const [entered, left] = node.replies.map(({ body }) => JSON.parse(body) as TrackReply);
    expect(node.replies.map(({ replyTo }) => replyTo)).toEqual(['here/1', 'here/2']);
    expect(entered).toMatchObject({ result: 'applied', user: { userId: 'ann', geofences: [{ _id: shop._id }] } });
    expect(entered?.events).toMatchObject([
      { type: 'user.entered_geofence', geofence: { _id: shop._id }, user: { userId: 'ann' } },
    ]);
    expect(left?.user?.geofences).toEqual([]);
    expect(left?.events).toMatchObject([{ type: 'user.exited_geofence' }]);
  });

  test('leave out geofences that are disabled', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    node.start();
    await node.append(at(inside));
    await node.drained();
    await node.configure({ kind: 'geofence', record: { ...shop, enabled: false } });
    await node.append(at({ ...inside, replyTo: 'here/1' }));
    await until(() => node.replies.length === 1);
    expect(JSON.parse(node.replies[0]?.body as string)).toMatchObject({ user: { geofences: [] }, events: [] });
  });

  test('have nearby geofences on request', async () => {
    const found = [{ _id: shop._id }];
    const questions: object[] = [];
    node.start({
      searchGeofences: async (question) => {
        questions.push(question);
        return found;
      },
    });
    const details = exampleDetails({ nearbyGeofences: true });
    await node.append(at({ ...inside, replyTo: 'here/1', details }), at({ ...inside, replyTo: 'here/2' }));
    await until(() => node.replies.length === 2);
    const nearby = node.replies.map(({ replyTo, body }) => [replyTo, (JSON.parse(body) as TrackReply).nearbyGeofences]);
    expect(Object.fromEntries(nearby)).toEqual({ 'here/1': found, 'here/2': undefined });
    expect(questions).toMatchObject([{ ...inside, limit: 10, radiusM: 10_000 }]);
  });

  // A project with many geofences kept the locations of others in its partition waiting for its own replies.
  test('regression: a search for nearby geofences delays no other location', async () => {
    const searches: AbortSignal[] = [];
    node.start({
      searchGeofences: (_, signal) =>
        new Promise((__, reject) => {
          searches.push(signal!);
          signal!.addEventListener('abort', () => reject(signal!.reason));
        }),
    });
    const details = exampleDetails({ nearbyGeofences: true });
    await node.append(at({ ...inside, replyTo: 'here/1', details }));
    await until(() => searches.length === 1);
    await node.append(at({ ...outside, replyTo: 'here/2' }));
    await node.drained();
    await until(() => node.replies.length === 2);
    expect(node.replies.map(({ replyTo }) => replyTo)).toEqual(['here/2', 'here/1']);
    expect(JSON.parse(node.replies[1]?.body as string)).not.toHaveProperty('nearbyGeofences');
    // Nobody waits for its result any more, and other searches need its place.
    expect(searches[0]?.aborted).toBe(true);
  });

  test('end the stage when a search fails', async () => {
    const stage = node.start({ searchGeofences: () => Promise.reject(new Error('no more memory')) });
    await node.append(at({ ...inside, replyTo: 'here/1', details: exampleDetails({ nearbyGeofences: true }) }));
    await expect(stage.done).rejects.toThrow('no more memory');
  });

  test('to a stale location with a new user have the stored user of the device', async () => {
    node.start();
    const late = { ...at(outside), occurredAt: 1, userId: 'ann' };
    await node.append(at({ ...inside, userId: 'bob', replyTo: 'here/1' }), { ...late, replyTo: 'here/2' });
    await until(() => node.replies.length === 2);
    const [bob, stale] = node.replies.map(({ body }) => JSON.parse(body) as TrackReply);
    expect(stale).toMatchObject({ result: 'stale', user: { _id: bob?.user?._id, userId: 'bob' } });
    expect(stale?.user?.location.coordinates).toEqual([inside.longitude, inside.latitude]);
    const outcomes = await node.outcomes();
    expect(outcomes.map(({ user }) => user)).toEqual([bob?.user?._id, bob?.user?._id]);
  });
});

describe('bad records', () => {
  // A producer that wrote microseconds ended every process that read its location, one after the other.
  test('regression: a time that is no date is a dead letter', async () => {
    const hours = { Mon: [['09:00', '17:00'] as [string, string]] };
    await node.configure({ kind: 'geofence', record: { ...shop, operatingHours: hours, timeZone: 'Europe/Berlin' } });
    const times = [9e15, -9e15, 8.64e15, -8.64e15];
    const stage = node.start();
    await node.append(
      ...times.map((occurredAt) => at({ ...inside, occurredAt, replyTo: 'here/1' })),
      at({ ...inside, receivedAt: 9e15, replyTo: 'here/2' }),
      at({ ...inside, deviceId: 'other' }),
    );
    await Promise.race([node.drained(), stage.done]);
    const letters = await node.deadLetters();
    expect(letters.map(({ reason }) => reason)).toEqual(Array(5).fill('invalid_location'));
    expect(letters[0]?.message).toBe('occurredAt 9000000000000000');
    expect(await types()).toEqual(['user.entered_geofence']);
  });

  test('become dead letters with a reason, unchanged, and the partition continues', async () => {
    const alerts: object[] = [];
    const good = at(inside);
    const key = keyOf(good);
    const bad = [
      { reason: 'undecodable', value: Buffer.from('not avro at all') },
      { reason: 'invalid_location', value: codecs.location.encode(at({ latitude: Number.NaN })) },
      { reason: 'invalid_location', value: codecs.location.encode(at({ longitude: 180.5 })) },
      { reason: 'invalid_location', value: codecs.location.encode(at({ accuracy_m: -1 })) },
      { reason: 'invalid_location', value: codecs.location.encode(at({ details: exampleDetails({ metadata: '{' }) })) },
      { reason: 'unknown_project', value: codecs.location.encode(at({ project: idOf('project', 404) })) },
      { reason: 'unknown_project', value: codecs.location.encode(at({ project: 'not an id' })) },
    ];
    node.start({ onAlert: (alert) => alerts.push(alert) });
    await node.embedded.log.append(topics.locations, [
      ...bad.map(({ value }) => ({ key, value })),
      locationRecord(good),
    ]);
    await node.drained();

    const letters = await node.deadLetters();
    expect(letters.map(({ reason }) => reason)).toEqual(bad.map(({ reason }) => reason));
    expect(letters.map(({ value }) => value)).toEqual(bad.map(({ value }) => value));
    expect(letters[1]).toMatchObject({ topic: 'locations', offset: 1, key: Buffer.from(key) });
    expect((await node.outcomes()).map(({ location }) => location.id)).toEqual([good.id]);
    // A commit is visible a moment before the stage raises the alert.
    await until(() => alerts.length > 0);
    expect(alerts).toMatchObject([{ kind: 'dead_letters', count: bad.length, reason: 'unknown_project' }]);
  });

  test('in large numbers halt the partition without writing the last batch; other partitions continue', async () => {
    const alerts: object[] = [];
    const { log } = node.embedded;
    const key = keyOf(at({}));
    const partition = log.partitionOf(topics.locations, key);
    node.start({ onAlert: (alert) => alerts.push(alert) });
    await node.append(...Array.from({ length: 90 }, () => at(inside)));
    await node.drained();
    await log.append(
      topics.locations,
      Array.from({ length: 200 }, () => ({ key, value: Buffer.from('bad') })),
    );
    await until(() => alerts.length > 0);
    expect(alerts).toEqual([
      {
        kind: 'halted',
        topic: 'locations',
        partition,
        dead: 100,
        seen: 190,
        offset: 189,
        reason: 'undecodable',
        message: expect.any(String),
      },
    ]);
    const elsewhere = Array.from({ length: 50 }, (_, number) => at({ ...inside, deviceId: `other ${number}` })).filter(
      (other) => log.partitionOf(topics.locations, keyOf(other)) !== partition,
    );
    expect(elsewhere.length).toBeGreaterThan(0);
    await node.append(at(inside), ...elsewhere);
    await until(async () => (await node.outcomes()).length === 90 + elsewhere.length);
    expect(await node.deadLetters()).toEqual([]);
  });

  test('of a halted partition are read again by the next owner, which may dead-letter them all', async () => {
    const key = keyOf(at({}));
    const alerts: { readonly kind: string }[] = [];
    const poison = Array.from({ length: 200 }, () => ({ key, value: Buffer.from('bad') }));
    const stage = node.start({ onAlert: (alert) => alerts.push(alert) });
    await node.embedded.log.append(topics.locations, [...poison, locationRecord(at(inside))]);
    await until(() => alerts.length > 0);
    await stage.close();
    expect(alerts.map(({ kind }) => kind)).toEqual(['halted']);
    node.start({ bounds: { maxDeadLetterShare: 1 } });
    await node.drained();
    expect(await node.deadLetters()).toHaveLength(200);
    expect(await node.outcomes()).toHaveLength(1);
  });

  test('among enough good records do not halt the partition', async () => {
    node.start();
    const key = keyOf(at({}));
    const mixed = Array.from({ length: 600 }, (_, index) =>
      index % 2 === 1 ? { key, value: Buffer.from('bad') } : locationRecord(at(inside)),
    );
    await node.embedded.log.append(topics.locations, mixed);
    await node.drained();
    expect(await node.deadLetters()).toHaveLength(300);
  });
});

describe('a fenced owner', () => {
  test('writes nothing, reclaims and evaluates again', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    const alerts: object[] = [];
    node.start({ onAlert: (alert) => alerts.push(alert) });
    await node.append(at(inside));
    await node.drained();

    const partition = node.embedded.log.partitionOf(topics.locations, keyOf(at({})));
    const thief = await node.embedded.stateStore.claim(partition);
    await node.append(at(outside), at(inside));
    await node.drained();
    expect(alerts).toEqual([{ kind: 'fenced', topic: topics.locations, partition, nextOffset: thief.nextOffset }]);
    expect(await types()).toEqual(['user.entered_geofence', 'user.exited_geofence', 'user.entered_geofence']);
    expect(await node.outcomes()).toHaveLength(3);
  });

  test('discards its cache, because the other owner may have changed states', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    node.start();
    const first = at(inside);
    await node.append(first);
    await node.drained();
    const partition = node.embedded.log.partitionOf(topics.locations, keyOf(first));
    const thief = await node.embedded.stateStore.claim(partition);
    const states = new Map([[keyOf(first), null]]);
    await node.embedded.stateStore.commit(thief, {
      expectedOffset: thief.nextOffset,
      nextOffset: thief.nextOffset,
      states,
      publish: [],
    });
    await node.append(at(inside));
    await node.drained();
    expect(await types()).toEqual(['user.entered_geofence', 'user.entered_geofence']);
  });

  test('does not reclaim a partition that was reassigned', async () => {
    const { log, stateStore } = node.embedded;
    let claims = 0;
    const contested: StateStore = {
      ...stateStore,
      claim: (partition) => {
        claims += 1;
        return stateStore.claim(partition);
      },
      commit: async () => 'fenced',
    };
    const alerts: object[] = [];
    const stage = node.start({
      log: withPartitionsLost(log),
      states: contested,
      onAlert: (alert) => alerts.push(alert),
      bounds: { reclaimDelayMs: 1 },
    });
    await node.append(at(inside));
    await expect.poll(() => alerts).toHaveLength(1);
    await stage.close();
    expect(claims).toBe(log.partitions(topics.locations));
  });

  test('regression: continues when its position was repaired while the log compared the former one', async () => {
    node.start({ log: withPositionRepairedMeanwhile(node.embedded.log) });
    await node.append(at(inside));
    await node.drained();
    expect(await node.outcomes()).toHaveLength(1);
  });

  test('ends the stage when it is fenced repeatedly', async () => {
    const { stateStore } = node.embedded;
    const contested: StateStore = { ...stateStore, commit: async () => 'fenced' };
    const stage = node.start({ states: contested, bounds: { maxFencedAttempts: 3, reclaimDelayMs: 1 } });
    const stopped = expect(stage.done).rejects.toThrow('claimed by others 3 times');
    await node.append(at(inside));
    await stopped;
  });

  test('applies again what a store that fell back has lost', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    await node.append(at(inside), at(outside), at(inside));
    const { stateStore } = node.embedded;
    // Simulates a store that fell back: the first claim shows a position that is too far ahead.
    const fallenBack: StateStore = {
      ...stateStore,
      async claim(partition) {
        const claim = await stateStore.claim(partition);
        return claim.token === 1 ? { ...claim, nextOffset: 2 } : claim;
      },
    };
    node.start({ states: fallenBack });
    await node.drained();
    expect(await types()).toEqual(['user.entered_geofence', 'user.exited_geofence', 'user.entered_geofence']);
  });
});

// A batch of locations that each entered and left a thousand geofences had gigabytes of events. The process ran out of
// memory, restarted at the same offset, and ran out of memory again.
test('regression: a commit takes no more locations when it publishes enough', async () => {
  const places = [inside, outside];
  const shops = places.flatMap(({ longitude, latitude }) =>
    Array.from({ length: 10 }, (_, index) =>
      geofenceRecord({ externalId: `${longitude} ${index}`, center: [longitude, latitude], radius: 100 }),
    ),
  );
  await node.configure(...shops.map((record) => ({ kind: 'geofence' as const, record })));
  const locations = Array.from({ length: 40 }, (_, index) => at(places[index % 2]!));
  await node.append(...locations);
  const { stateStore } = node.embedded;
  const commits: number[] = [];
  const observed: StateStore = {
    ...stateStore,
    commit(claim, commit) {
      commits.push(commit.publish.flatMap(({ records }) => records).reduce((sum, { value }) => sum + value!.length, 0));
      return stateStore.commit(claim, commit);
    },
  };
  node.start({ states: observed, bounds: { maxCommitBytes: 50_000 } });
  await node.drained();
  // A location has 20 events of less than a kilobyte.
  expect(Math.max(...commits)).toBeLessThan(70_000);
  expect((await node.outcomes()).map(({ location: { id } }) => id)).toEqual(locations.map(({ id }) => id));
  expect(await types()).toHaveLength(10 + 39 * 20);
  expect((await node.state(locations[0]!))?.users[0]?.geofences).toHaveLength(10);
});

// A batch of 5,000 locations among 23,000 overlapping geofences was evaluated in one turn of several minutes.
test('regression: a commit takes no more locations when their evaluation takes long', async () => {
  await node.configure({ kind: 'geofence', record: shop });
  const locations = Array.from({ length: 10 }, (_, index) => at(index % 2 === 0 ? inside : outside));
  await node.append(...locations);
  const { stateStore } = node.embedded;
  let commits = 0;
  const observed: StateStore = {
    ...stateStore,
    commit(claim, commit) {
      commits += 1;
      return stateStore.commit(claim, commit);
    },
  };
  node.start({ states: observed, bounds: { maxEvaluationMs: 0 } });
  await node.drained();
  expect(commits).toBe(locations.length);
  expect((await node.outcomes()).map(({ location: { id } }) => id)).toEqual(locations.map(({ id }) => id));
  expect(await types()).toHaveLength(locations.length);
});

// Forty devices that each entered a thousand geofences of 64 kB made 2.6 GB of events, and the locations behind them
// waited for half a minute.
test('regression: the events of a location have a bounded amount of metadata', async () => {
  const devices = 40;
  const long = { key: 'x'.repeat(64_000) };
  const shops = Array.from({ length: 100 }, (_, index) =>
    geofenceRecord({ externalId: `${index}`, metadata: index % 10 === 0 ? { floor: index } : long }),
  );
  await node.configure(...shops.map((record) => ({ kind: 'geofence' as const, record })));
  const { stateStore } = node.embedded;
  let bytes = 0;
  const observed: StateStore = {
    ...stateStore,
    commit(claim, commit) {
      for (const { value } of commit.publish.flatMap(({ records }) => records)) bytes += value!.length;
      return stateStore.commit(claim, commit);
    },
  };
  const details = exampleDetails({ metadata: '{"plan":"gold"}' });
  const locations = Array.from({ length: devices }, (_, index) =>
    at({ ...inside, deviceId: `phone-${index}`, details }),
  );
  node.start({ states: observed });
  await node.append(...locations);
  await node.drained();
  // Without its metadata, an event has less than half a kilobyte.
  expect(bytes).toBeLessThan(devices * (maxEventMetadata + shops.length * 600));
  const events = await node.events();
  expect(events).toHaveLength(devices * shops.length);
  const fitting = Math.floor(maxEventMetadata / 64_050);
  expect(events.filter(({ metadataOmitted }) => metadataOmitted)).toHaveLength(devices * (90 - fitting));
  for (const { metadataOmitted, geofence, user } of events) {
    expect(geofence!.metadata === null).toBe(metadataOmitted);
    expect(JSON.parse(user!.profile!).metadata === undefined).toBe(metadataOmitted);
  }
  // The events of ordinary geofences are whole, whatever else is entered.
  expect(events.filter(({ geofence }) => geofence!.metadata?.startsWith('{"floor"'))).toHaveLength(devices * 10);
});

describe('a crash between evaluation and commit', () => {
  test('loses nothing and duplicates nothing', async () => {
    await node.configure({ kind: 'geofence', record: shop });
    const { stateStore } = node.embedded;
    let commits = 0;
    const dying: StateStore = {
      ...stateStore,
      async commit(claim, commit) {
        commits += 1;
        if (commits === 2) throw new Error('power cut');
        return stateStore.commit(claim, commit);
      },
    };
    const stage = node.start({ states: dying, bounds: { maxBatchRecords: 3 } });
    const crashed = expect(stage.done).rejects.toThrow('power cut');
    const locations = Array.from({ length: 12 }, (_, index) => at(index % 2 === 0 ? inside : outside));
    await node.append(...locations);
    await crashed;

    await node.reopen();
    node.start();
    await node.drained();
    expect((await node.outcomes()).map(({ location }) => location.id)).toEqual(locations.map(({ id }) => id));
    const events = await node.events();
    expect(events).toHaveLength(12);
    expect(new Set(events.map(({ id }) => id)).size).toBe(12);
  });
});

describe('replay', () => {
  const devices = fc.constantFrom('a', 'b', 'c', 'd');
  const step = fc.record({
    deviceId: devices,
    userId: fc.constantFrom(null, 'ann', 'bob'),
    longitude: fc.constantFrom(10, 10.0008, 10.0012, 10.01),
    accuracy_m: fc.constantFrom(0, 20, 80),
    stopped: fc.boolean(),
    seconds: fc.integer({ min: -20, max: 60 }),
  });

  test('gives equal states, events and outcomes for any split into batches and runs', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 1, maxLength: 60 }),
        fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 4 }),
        async (steps, runs) => {
          const locations = steps.map(({ seconds, ...fields }, index) =>
            at({
              ...fields,
              latitude: 50,
              id: idOf('step', index),
              occurredAt: 1e9 + index * 30_000 + seconds * 1_000,
              receivedAt: 2e9,
            }),
          );
          const whole = await runOf(locations, [10_000]);
          expect(await runOf(locations, runs)).toEqual(whole);
          expect(whole.outcomes.map(({ location }) => location.id).sort()).toEqual(
            locations.map(({ id }) => id).sort(),
          );
          expect(new Set(whole.events.map(({ id }) => id)).size).toBe(whole.events.length);
        },
      ),
      { numRuns: propertyRuns(15) },
    );
  });

  /** Processes the locations on a new node, appended in one part per run, with one batch size per run. */
  async function runOf(locations: readonly Location[], batchSizes: readonly number[]) {
    const fresh = await TestNode.open();
    try {
      await fresh.configure({ kind: 'project', record: projectRecord() }, { kind: 'geofence', record: shop });
      const partLength = Math.ceil(locations.length / batchSizes.length);
      for (const [run, maxBatchRecords] of batchSizes.entries()) {
        const part = locations.slice(run * partLength, (run + 1) * partLength);
        if (part.length > 0) await fresh.append(...part);
        fresh.start({ bounds: { maxBatchRecords, maxCachedDevices: 2 } });
        await fresh.drained();
        await fresh.stop();
      }
      const states = await Promise.all(['a', 'b', 'c', 'd'].map((deviceId) => fresh.state(location({ deviceId }))));
      return { states, events: await fresh.events(), outcomes: await fresh.outcomes() };
    } finally {
      await fresh.dispose();
    }
  }
});
