import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { deriveId } from '../../../../schemas/ids.js';
import type { MapMarkerRecord, MapStyleRecord } from '../../../../schemas/json/map.js';
import { scopes, temporaryFolder } from '../../testing/fixtures.js';
import type { DecodedChange } from '../../types.js';
import { openReadModel } from '../read-model.js';

const ids = [0, 1, 2, 3].map((number) => deriveId('file', `${number}`));

/** Stores or deletes a style or marker. A record stays in the scope in which it was created. */
const change = fc.record({
  kind: fc.constantFrom('map-style' as const, 'map-marker' as const),
  number: fc.nat(ids.length - 1),
  isThere: fc.boolean(),
  text: fc.string(),
});

function changeOf({
  kind,
  number,
  isThere,
  text,
}: typeof change extends fc.Arbitrary<infer T> ? T : never): DecodedChange {
  const id = ids[number]!;
  const identity = { _id: id, ...scopes[number % scopes.length]!, createdAt: 1_000 - number, updatedAt: 1, name: null };
  const style: MapStyleRecord = { ...identity, style: { version: 8, name: text } };
  const marker: MapMarkerRecord = { ...identity, type: 'image/png', image: Buffer.from(text).toString('base64') };
  return { kind, id, record: isThere ? (kind === 'map-style' ? style : marker) : null };
}

const contentOf = ({ record }: DecodedChange): string => {
  const { style, image = '' } = record as Partial<MapStyleRecord & MapMarkerRecord>;
  return style ? JSON.stringify(style) : Buffer.from(image, 'base64').toString();
};

test('lists and contents agree with a plain map, for the applier and for another reader', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 6 }), async (batches) => {
      const path = temporaryFolder();
      const [readModel, follower] = [openReadModel(path), openReadModel(path)];
      const model = new Map<string, DecodedChange>();
      let offset = 0;
      for (const batch of batches) {
        const changes = batch.map(changeOf);
        offset += changes.length + 1;
        await readModel.apply(changes, offset);
        follower.refresh();
        for (const one of changes) model.set(`${one.kind} ${one.id}`, one);
        for (const { mapStyles, mapMarkers } of [readModel, follower]) {
          for (const [kind, files] of [
            ['map-style', mapStyles],
            ['map-marker', mapMarkers],
          ] as const) {
            for (const scope of scopes) {
              const expected = ids
                .map((id) => model.get(`${kind} ${id}`))
                .filter((one) => one?.record && 'project' in one.record && one.record.project === scope.project)
                .filter((one) => (one!.record as MapStyleRecord).environment === scope.environment)
                .reverse() as DecodedChange[];
              expect(files.list(scope).map(({ _id }) => _id)).toEqual(expected.map(({ id }) => id));
              expect(files.list(scope)).toBe(files.list({ ...scope }));
              const contents = expected.map(({ id }) => files.content(scope, id)?.toString());
              expect(contents).toEqual(expected.map(contentOf));
              expect(files.list(scope).map(({ bytes }) => bytes)).toEqual(
                expected.map((one) => Buffer.byteLength(contentOf(one))),
              );
              const strangers = ids.filter((id) => !expected.some((one) => one.id === id));
              expect(strangers.map((id) => files.content(scope, id) ?? files.find(scope, id))).toEqual(
                strangers.map(() => undefined),
              );
            }
          }
        }
      }
      await follower.close();
      await readModel.close();
    }),
    { numRuns: 15 },
  );
});

test('heads have no content', async () => {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  await readModel.apply(
    [0, 1].map((number) => changeOf({ kind: number ? 'map-style' : 'map-marker', number, isThere: true, text: 'x' })),
    2,
  );
  expect(readModel.mapMarkers.list(scopes[0]!)).toEqual([
    { _id: ids[0], ...scopes[0]!, createdAt: 1_000, updatedAt: 1, name: null, type: 'image/png', bytes: 1 },
  ]);
  expect(readModel.mapStyles.list(scopes[1]!)).toEqual([
    { _id: ids[1], ...scopes[1]!, createdAt: 999, updatedAt: 1, name: null, bytes: 24 },
  ]);
});
