import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { GeofenceRecord } from '../../../schemas/json/geofence.js';
import { defaultSettings, type Settings } from '../../../schemas/json/project.js';
import type { DeviceState, Location } from '../../../schemas/records.js';
import { propertyRuns } from '../../../schemas/testing/property-runs.js';
import { evaluate } from '../../evaluation/evaluate.js';
import { defaultBounds, type EvaluationBounds } from '../../evaluation/types.js';
import { createCatalog } from '../index/catalog.js';
import { openReadModel } from '../store/read-model.js';
import { geofenceRecord, location, projectA, projectRecord, scope, temporaryFolder } from '../testing/fixtures.js';
import type { DecodedChange } from '../types.js';
import { type Explanation, explain, type RuleCode, ruleTexts, withNames } from './explain.js';

function explained(...given: Parameters<typeof explain>): Explanation {
  const steps = explain(...given);
  for (;;) {
    const step = steps.next();
    if (step.done) return step.value;
  }
}

const at = 1_700_000_000_000;
/** Offsets inside, on, around and away from the fences. A thousandth of a degree of latitude is about 111 m. */
const place = fc.constantFrom(0, 0, 0, 0.0004, -0.0004, 0.0012);
const fence = fc.record({
  center: fc.tuple(place, place),
  radius: fc.constantFrom(20, 60, 100),
  enabled: fc.constantFrom(true, true, true, false),
  disableAfter: fc.constantFrom(null, null, null, at - 1),
  deleteAfter: fc.constantFrom(null, null, null, at + 5_000),
  stopDetection: fc.constantFrom(null, true, false),
  dwellThreshold_min: fc.constantFrom(null, 0, 1),
  userIds: fc.constantFrom<(string[] | null)[]>(null, null, ['ann']),
  ip: fc.constantFrom(null, null, '10.0.0.0/8'),
  operatingHours: fc.constantFrom<GeofenceRecord['operatingHours'][]>(null, null, { Mon: [] }),
});
const settings: fc.Arbitrary<Settings> = fc.record({
  stopDetection: fc.boolean(),
  bufferEntries: fc.boolean(),
  bufferExits: fc.boolean(),
  restrictToOperatingHours: fc.boolean(),
  dwellEvents: fc.boolean(),
  defaultDwellThreshold: fc.constantFrom(null, 1),
  minimumConfidence: fc.constantFrom(1, 1, 1, 2, 3),
  beaconUuids: fc.constant([]),
  beaconUids: fc.constant([]),
});
const update = fc
  .record({
    x: place,
    y: place,
    accuracy_m: fc.constantFrom(0, 20, 100),
    afterMs: fc.constantFrom(-1_000, 0, 1_000, 120_000),
    stopped: fc.boolean(),
    foreground: fc.boolean(),
    userId: fc.constantFrom(null, 'ann'),
    ip: fc.constantFrom(null, '10.1.1.1'),
    isSentTwice: fc.boolean(),
  })
  .map(({ x, y, ...rest }) => ({ longitude: x, latitude: y, ...rest }));

/** Limits small enough for the few fences of this test. */
const bounds: fc.Arbitrary<EvaluationBounds> = fc.constantFrom(defaultBounds, defaultBounds, {
  ...defaultBounds,
  maxVisits: 1,
});

const endsVisit = new Set<RuleCode>(['exited', 'left_in_silence', 'past_delete_after', 'deleted']);

/** Compares an explanation with the evaluation. */
function expectAgreement(
  explanation: Explanation,
  given: Location,
  state: DeviceState | undefined,
  context: Parameters<typeof explain>[2],
) {
  const did = evaluate(given, state, context);
  expect(explanation.evaluation.result).toBe(did.result);
  expect(explanation.evaluation.transitions.map(({ type, _id }) => [type, _id])).toEqual(
    did.transitions.map(({ type, id }) => [type, id]),
  );

  const idsOf = (code: RuleCode) =>
    explanation.fences
      .filter(({ rule }) => rule.code === code)
      .map(({ _id }) => _id)
      .sort();
  for (const code of ['entered', 'exited', 'dwelled'] as const) {
    const type = code === 'dwelled' ? 'user.dwelled_in_geofence' : (`user.${code}_geofence` as const);
    const events = did.transitions.filter((transition) => transition.type === type);
    expect(idsOf(code)).toEqual(events.map(({ id }) => id).sort());
    for (const { id, confidence } of events) {
      const explainedFence = explanation.fences.find(({ _id }) => _id === id)!;
      expect(code === 'exited' ? explainedFence.exitConfidence : explainedFence.entryConfidence).toBe(confidence);
    }
  }
  if (did.result !== 'applied') return;
  const insideAfter = explanation.fences
    .filter(({ wasInside, rule }) => (wasInside ? !endsVisit.has(rule.code) : rule.code === 'entered'))
    .map(({ _id }) => _id);
  expect(insideAfter.sort()).toEqual(did.user.geofences.map(({ id }) => id).sort());
}

test('explanations agree with evaluation, and every rule occurs', async () => {
  const seen = new Set<RuleCode>();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fence, { minLength: 1, maxLength: 6 }),
      settings,
      fc.array(update, { minLength: 2, maxLength: 25 }),
      bounds,
      fc.boolean(),
      async (shapes, chosen, updates, limits, isMadeAnew) => {
        const readModel = openReadModel(temporaryFolder(), { clock: () => at });
        const records = shapes.map((fields, index) => geofenceRecord({ externalId: String(index), ...fields }));
        const changes = records.map((record): DecodedChange => ({ kind: 'geofence', id: record._id, record }));
        const project = projectRecord({ settings: { test: chosen, live: defaultSettings } });
        await readModel.apply([{ kind: 'project', id: projectA, record: project }, ...changes], 10);
        const catalog = createCatalog(readModel);
        let state: DeviceState | undefined;
        let occurredAt = at;
        const sent = updates.flatMap(({ isSentTwice, ...fields }) =>
          isSentTwice ? [fields, { ...fields, afterMs: 0 }] : [fields],
        );
        for (const [index, { afterMs, ...fields }] of sent.entries()) {
          if (index === sent.length - 1) {
            const deletion = { ...changes[0]!, record: null };
            const creation = { ...changes[0]!, record: { ...records[0]!, createdAt: at } };
            await readModel.apply(isMadeAnew ? [deletion, creation] : [deletion], 11);
            catalog.refresh();
          }
          const context = { ...catalog.context(scope)!, bounds: limits };
          const given = location({ ...fields, occurredAt: occurredAt + afterMs, receivedAt: occurredAt });
          const explanation = explained(given, state, context);
          expectAgreement(explanation, given, state, context);
          for (const { rule } of explanation.fences) seen.add(rule.code);
          // A fence has the same explanation alone and among others.
          for (const fence of explanation.fences) {
            expect(explained(given, state, context, fence._id).fences).toEqual([fence]);
          }
          for (const { rule } of explained(given, state, context, 'f'.repeat(24)).fences) seen.add(rule.code);
          const evaluation = evaluate(given, state, context);
          state = evaluation.state;
          if (evaluation.result === 'applied') occurredAt = given.occurredAt;
        }
        await catalog.close();
        await readModel.close();
      },
    ),
    { numRuns: propertyRuns(150), seed: 16 },
  );
  // The seed is fixed, so that this does not depend on chance.
  expect([...seen].sort()).toEqual(Object.keys(ruleTexts).sort());
});

test('explains a nearby fence that the location does not reach, with its distance', async () => {
  const readModel = openReadModel(temporaryFolder());
  const record = geofenceRecord({ center: [0, 0], radius: 100 });
  const project = projectRecord();
  await readModel.apply(
    [
      { kind: 'project', id: projectA, record: project },
      { kind: 'geofence', id: record._id, record },
    ],
    2,
  );
  const catalog = createCatalog(readModel);
  const given = location({ longitude: 0.002, latitude: 0 });
  const explanation = explained(given, undefined, catalog.context(scope)!);
  const { evaluation, fences } = explanation;
  expect(evaluation).toEqual({ result: 'applied', transitions: [] });
  expect(explanation).toMatchObject({ evaluatedAt: new Date(given.occurredAt).toISOString() });
  expect(explanation).not.toHaveProperty('notice');
  expect(fences.map((fence) => withNames(fence, scope, readModel))).toMatchObject([
    {
      _id: record._id,
      tag: 'shop',
      externalId: 'x',
      overlap: 0,
      zone: 'apart',
      wasInside: false,
      rule: { code: 'stays_outside_boundary' },
    },
  ]);
  expect(fences[0]!.distance_m).toBeCloseTo(100 - 222.64, 1);
  await catalog.close();
  await readModel.close();
});

test('a location far from all fences gets a notice and the nearest fences', async () => {
  const readModel = openReadModel(temporaryFolder());
  const records = Array.from({ length: 8 }, (_, index) =>
    geofenceRecord({ externalId: `${index}`, center: [0.1 * (index + 1), 0], radius: 100 }),
  );
  const changes = records.map((record): DecodedChange => ({ kind: 'geofence', id: record._id, record }));
  await readModel.apply([{ kind: 'project', id: projectA, record: projectRecord() }], 1);
  const catalog = createCatalog(readModel);
  const explainedNow = (geofence?: string) => {
    catalog.refresh();
    const found = explained(location({ longitude: 0, latitude: 0 }), undefined, catalog.context(scope)!, geofence);
    return { ...found, fences: found.fences.map((fence) => withNames(fence, scope, readModel)) };
  };
  expect(explainedNow()).toMatchObject({ fences: [], notice: { code: 'no_geofences' } });

  await readModel.apply(changes, 9);
  const { fences, notice } = explainedNow();
  expect(notice?.code).toBe('no_geofence_near');
  expect(fences.map(({ externalId }) => externalId)).toEqual(['0', '1', '2', '3', '4']);
  expect(fences[0]!.distance_m).toBeCloseTo(100 - 11_131.95, 0);
  expect(new Set(fences.map(({ rule }) => rule.code))).toEqual(new Set(['stays_outside_boundary']));

  const farthest = records[7]!;
  expect(explainedNow(farthest._id).fences).toMatchObject([{ _id: farthest._id, externalId: '7', wasInside: false }]);
  const unknownId = 'f'.repeat(24);
  expect(explainedNow(unknownId).fences).toMatchObject([{ _id: unknownId, rule: { code: 'no_such_geofence' } }]);
  await catalog.close();
  await readModel.close();
});
