/**
 * Regression: a reply could lack the geofence whose entry it reported, and an exit could depend on when the sweep ran.
 * Expiry was evaluated by the wall clock in one place and by the location's time in another. Now only the location's
 * time counts.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { codecs } from '../../../schemas/codecs.js';
import { dayMs, minuteMs } from '../../../schemas/durations.js';
import { defaultSettings } from '../../../schemas/json/project.js';
import type { Location } from '../../../schemas/records.js';
import { exampleDetails } from '../../../schemas/testing/examples.js';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { createCatalog } from '../../catalog/index/catalog.js';
import { createSpatialQueries } from '../../catalog/queries/queries.js';
import { openReadModel } from '../../catalog/store/read-model.js';
import {
  geofenceRecord,
  location,
  projectA,
  projectRecord,
  scope,
  temporaryFolder,
} from '../../catalog/testing/fixtures.js';
import type { DecodedChange } from '../../catalog/types.js';
import { storedUserText } from '../../records/deliveries.js';
import { decodeDeviceState } from '../../records/device-state.js';
import { decodeBatch } from './decode.js';
import { createDefinitions } from './definitions.js';
import type { Device } from './device-states.js';
import { createBatchEvaluator } from './evaluate-batch.js';
import { trackReply } from './reply.js';

const unbounded = { maxCommitBytes: Infinity, maxEvaluationMs: Infinity };
const startMs = Date.UTC(2026, 2, 2, 12);
const retentionMs = 14 * dayMs;

const often = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 2, arbitrary: fc.constant(usual) }, fc.constantFrom(...others));
/** Minutes from the start to an expiry; locations are within half an hour of it. */
const expiry = often<number | null>(null, 3, 8, 15).map((min) => (min === null ? null : startMs + min * minuteMs));
const fence = fc.record({
  center: fc.constantFrom<[number, number]>([10, 50], [10.0005, 50]),
  radius: fc.constantFrom(60, 200),
  disableAfter: expiry,
  deleteAfter: expiry,
  dwellThreshold_min: fc.constantFrom(null, 1),
});
const moment = fc.record({
  afterMin: fc.constantFrom(1, 1, 2, 4),
  longitude: fc.constantFrom(10, 10, 10.0005, 10.02),
  accuracy_m: fc.constantFrom(5, 100_000, 20_037_508),
  deviceId: often('phone', 'watch'),
});
const settings = fc.record({
  bufferEntries: fc.boolean(),
  bufferExits: fc.boolean(),
  dwellEvents: fc.constant(true),
  minimumConfidence: fc.constantFrom(1, 2),
});

function locationsOf(
  moments: readonly { afterMin: number; longitude: number; accuracy_m: number; deviceId: string }[],
): Location[] {
  let occurredAt = startMs;
  return moments.map(({ afterMin, ...fields }, index) => {
    occurredAt += afterMin * minuteMs;
    const details = exampleDetails({ nearbyGeofences: true });
    const id = index.toString(16).padStart(24, '0');
    return location({
      ...fields,
      id,
      occurredAt,
      receivedAt: occurredAt + 250,
      latitude: 50,
      details,
      replyTo: 'here/1',
    });
  });
}

/** When a location is processed: the delay after the previous one, and whether a sweep precedes it. */
interface Turn {
  readonly waitMs: number;
  readonly isSweptBefore: boolean;
}

/** Collects everything that is written and replied when each location is processed in its turn. */
async function process(
  changes: readonly DecodedChange[],
  locations: readonly Location[],
  turns: readonly Turn[],
): Promise<string[]> {
  let nowMs = startMs;
  const clock = () => nowMs;
  const readModel = openReadModel(temporaryFolder(), { clock });
  let offset = changes.length;
  await readModel.apply(changes, offset);
  const catalog = createCatalog(readModel);
  const definitions = createDefinitions(readModel);
  const evaluateBatch = createBatchEvaluator({ codecs, catalog, definitions, ...unbounded });
  const { searchGeofences } = createSpatialQueries(catalog, clock);
  const devices = new Map<string, Device>();
  const written: string[] = [];
  for (const [index, one] of locations.entries()) {
    const turn = turns[index] ?? atOnce;
    nowMs = Math.max(nowMs + turn.waitMs, one.receivedAt);
    const expired = turn.isSweptBefore ? readModel.expired(nowMs - retentionMs, 100) : [];
    if (expired.length > 0) {
      await readModel.apply(
        expired.map((id) => ({ kind: 'geofence', id, record: null })),
        ++offset,
      );
    }
    const { deviceId } = one;
    const device = devices.get(deviceId) ?? { key: deviceId, state: undefined, changed: false };
    devices.set(deviceId, device);
    catalog.refresh();
    definitions.refresh();
    const value = codecs.location.encode(one);
    const record = { partition: 0, offset: index, key: deviceId, value, timestamp: one.receivedAt };
    const effects = evaluateBatch(decodeBatch(codecs.location, [record]), devices);
    for (const { topic, records } of effects.publish) {
      for (const published of records) written.push(`${topic} ${published.value?.toString('base64')}`);
    }
    for (const [key, state] of effects.states) {
      written.push(`state of ${key}: ${state!.toString('base64')}`);
      const stored = decodeDeviceState(state!);
      written.push(storedUserText(stored, stored.users[0]!.id, { ...scope, deviceId }, readModel) ?? 'nobody');
    }
    for (const awaited of effects.awaited) {
      written.push(
        JSON.stringify(await trackReply(awaited, { configuration: readModel, searchNearby: searchGeofences })),
      );
    }
  }
  await catalog.close();
  await readModel.close();
  return written;
}

const atOnce: Turn = { waitMs: 0, isSweptBefore: true };

test('the same locations make the same states, replies and events, whenever they are processed', async () => {
  const turn = fc.record({
    waitMs: fc.constantFrom(0, minuteMs, 7 * minuteMs, dayMs / 2),
    isSweptBefore: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(
      fc.array(fence, { minLength: 1, maxLength: 4 }),
      settings,
      fc.array(moment, { minLength: 2, maxLength: 14 }),
      fc.array(turn, { minLength: 1, maxLength: 14 }),
      async (fences, chosen, moments, turns) => {
        const project = projectRecord({
          settings: { test: { ...defaultSettings, ...chosen }, live: defaultSettings },
        });
        const records = fences.map((fields, index) => geofenceRecord({ externalId: String(index), ...fields }));
        const changes: DecodedChange[] = [
          { kind: 'project', id: projectA, record: project },
          ...records.map((record): DecodedChange => ({ kind: 'geofence', id: record._id, record })),
        ];
        const locations = locationsOf(moments);
        const late = await process(changes, locations, turns);
        expect(late).toEqual(await process(changes, locations, []));
        expect(late).toEqual(await process(changes, locations, [{ waitMs: 13 * dayMs, isSweptBefore: true }]));
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});

test('a reply lists the geofence whose entry it reports, even if the geofence has expired meanwhile', async () => {
  for (const expiring of ['disableAfter', 'deleteAfter']) {
    const record = geofenceRecord({ [expiring]: startMs + 5 * minuteMs });
    const changes: DecodedChange[] = [
      { kind: 'project', id: projectA, record: projectRecord() },
      { kind: 'geofence', id: record._id, record },
    ];
    const [entry] = locationsOf([{ afterMin: 1, longitude: 10, accuracy_m: 5, deviceId: 'phone' }]);
    const written = await process(changes, [entry!], [{ waitMs: dayMs, isSweptBefore: true }]);
    const answer = JSON.parse(written.at(-1)!) as {
      user: { geofences: object[] };
      events: object[];
      nearbyGeofences: object[];
    };
    expect(answer.events).toHaveLength(1);
    expect(answer.user.geofences).toMatchObject([{ _id: record._id }]);
    expect(answer.nearbyGeofences).toMatchObject([{ _id: record._id, enabled: true }]);
  }
});
