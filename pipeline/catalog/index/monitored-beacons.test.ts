import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deriveId } from '../../../schemas/ids.js';
import type { BeaconRecord } from '../../../schemas/json/beacon.js';
import { distance } from '../../geometry/scale.js';
import { beaconRecord } from '../testing/fixtures.js';
import { type AtDistance, nearestBeacons } from './by-distance.js';
import { MonitoredBeacons } from './monitored-beacons.js';
import { createTreeBuilder } from './tree-builder.js';

const coordinate = fc.tuple(
  fc.oneof(fc.constantFrom(-180, 180, 179.999, 0), fc.double({ min: 0, max: 0.05, noNaN: true })),
  fc.oneof(fc.constantFrom(89.999, -90, 50), fc.double({ min: 50, max: 50.05, noNaN: true })),
);
const beacon = fc
  .record({ number: fc.nat(40), coordinates: coordinate, enabled: fc.boolean(), minor: fc.constantFrom('1', '2', '3') })
  .map(({ number, ...fields }) => beaconRecord({ _id: deriveId(String(number)), ...fields }));
const step = fc.oneof(
  { weight: 4, arbitrary: beacon.map((record) => ({ record, deletes: false })) },
  { weight: 1, arbitrary: beacon.map((record) => ({ record, deletes: true })) },
);

/** So many beacons far from all queries that a tree of them is built. */
const crowd = Array.from({ length: 1_100 }, (_, index) =>
  beaconRecord({ _id: deriveId('crowd', String(index)), minor: '9', coordinates: [100 + index / 1_000, -40] }),
);

const builder = createTreeBuilder();

test('nearest beacons agree with a full search after any changes', () => {
  fc.assert(
    fc.property(
      fc.array(step, { maxLength: 60 }),
      fc.nat(60),
      coordinate,
      fc.constantFrom(0, 500, 1_000, 5_000),
      fc.integer({ min: 1, max: 20 }),
      (steps, crowdAt, [longitude, latitude], radiusM, limit) => {
        const beacons = new MonitoredBeacons(builder);
        const model = new Map<string, BeaconRecord>();
        for (const [index, { record, deletes }] of steps.entries()) {
          if (index === crowdAt) {
            for (const one of crowd) beacons.set(one);
          }
          if (deletes) beacons.delete(record._id);
          else beacons.set(record);
          if (deletes) model.delete(record._id);
          else model.set(record._id, record);
        }
        const expected = Array.from(model.values())
          .filter(({ enabled }) => enabled)
          .map(({ _id, coordinates }) => ({ id: _id, distanceM: distance(longitude, latitude, ...coordinates) }))
          .filter(({ distanceM }) => distanceM <= radiusM)
          .sort((a, b) => a.distanceM - b.distanceM || (a.id < b.id ? -1 : 1))
          .slice(0, limit);
        const options = { maxDistanceM: radiusM, accepts: ({ enabled }: { enabled: boolean }) => enabled };
        const found: AtDistance[] = [];
        for (const nearest of nearestBeacons(beacons, longitude, latitude, options)) if (nearest) found.push(nearest);
        expect(found.slice(0, limit)).toEqual(expected);

        for (const minor of ['1', '2', '3']) {
          const alike = Array.from(model.values()).filter((record) => record.minor === minor);
          const { type, group, major } = beaconRecord();
          const found = [...beacons.matching({ type, group, major, minor, rssi_dbm: null })];
          expect(found.map(({ id, enabled }) => [id, enabled]).sort()).toEqual(
            alike.map(({ _id, enabled }) => [_id, enabled]).sort(),
          );
        }
      },
    ),
    { numRuns: 300 },
  );
});
