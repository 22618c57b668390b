/**
 * Several writers with their own read models edit one log. All read models agree, no acknowledged edit is undone by an
 * edit that did not know it, and no deleted record returns. The log loses records by compaction at any moment, and
 * read models are rebuilt.
 */
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { dayMs, hourMs } from '../../../../schemas/durations.js';
import type { GeofenceRecord } from '../../../../schemas/json/geofence.js';
import { propertyRuns } from '../../../../schemas/testing/property-runs.js';
import type { LogRecord } from '../../../ports.js';
import { geofenceRecord, temporaryFolder } from '../../testing/fixtures.js';
import type { Base, ChangeOrigin, DecodedChange } from '../../types.js';
import { openReadModel, type ReadModel } from '../read-model.js';
import { isApplicable, originOf } from './revisions.js';

const kind = 'geofence';
const names = ['x', 'y'];
const idOf = (name: string) => geofenceRecord({ externalId: name })._id;
/** Compaction lag of the model; a day for nodes. Records with refused edits are restored within it. */
const lagMs = 24 * hourMs;

interface Appended {
  readonly name: string;
  readonly change: DecodedChange & { readonly origin: ChangeOrigin };
}

/** A log with Kafka's compaction: removes a record if a newer one with its key is older than the lag. */
class ModelLog {
  records: Appended[] = [];
  nowMs = 1_000_000;
  end = 0;

  append(name: string, record: GeofenceRecord | null, bases: readonly Base[] | null): number {
    const origin = { offset: this.end++, timestampMs: this.nowMs, edit: `${this.end}`, bases };
    this.records.push({ name, change: { kind, id: idOf(name), record, origin } });
    return origin.offset;
  }

  /** Compacts up to `beforeOffset`, the end of a segment. */
  compact(beforeOffset: number): void {
    const newest = new Map<string, number>();
    for (const { name, change } of this.records) {
      const { offset, timestampMs } = change.origin;
      if (offset < beforeOffset && timestampMs <= this.nowMs - lagMs) newest.set(name, offset);
    }
    this.records = this.records.filter(({ name, change }) => change.origin.offset >= (newest.get(name) ?? 0));
  }
}

/** The latest acknowledged edit of a record. */
interface Oracle {
  readonly offset: number;
  readonly record: GeofenceRecord | null;
}

class Node {
  readModel!: ReadModel;
  constructor(readonly log: ModelLog) {}

  async begin(): Promise<void> {
    const readModel = openReadModel(temporaryFolder());
    opened.push(readModel);
    this.readModel = readModel;
  }

  async follow(maxRecords = Number.POSITIVE_INFINITY): Promise<void> {
    const { nextOffset } = this.readModel;
    const due = this.log.records.filter(({ change }) => change.origin.offset >= nextOffset).slice(0, maxRecords);
    const last = due.at(-1);
    if (last)
      await this.readModel.apply(
        due.map(({ change }) => change),
        last.change.origin.offset + 1,
      );
  }

  record(name: string): GeofenceRecord | null {
    return this.readModel.record(kind, idOf(name)) as GeofenceRecord | null;
  }
}

let opened: ReadModel[] = [];

type Step =
  | {
      readonly kind: 'edit';
      readonly node: number;
      readonly name: string;
      readonly what: 'update' | 'upsert' | 'delete';
    }
  | { readonly kind: 'follow'; readonly node: number; readonly count: number }
  | { readonly kind: 'compact'; readonly share: number }
  | { readonly kind: 'restore'; readonly node: number }
  | { readonly kind: 'wake'; readonly count: number }
  | { readonly kind: 'restart'; readonly node: number }
  | { readonly kind: 'wait'; readonly hours: number };

const node = fc.nat(2);
const steps = fc.array(
  fc.oneof(
    {
      weight: 8,
      arbitrary: fc.record({
        kind: fc.constant('edit' as const),
        node,
        name: fc.constantFrom(...names),
        what: fc.constantFrom('update' as const, 'upsert' as const, 'delete' as const),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constant('follow' as const), node, count: fc.integer({ min: 1, max: 4 }) }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('compact' as const),
        share: fc.double({ min: 0, max: 1, noNaN: true }),
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('restore' as const), node }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('wake' as const), count: fc.integer({ min: 1, max: 4 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart' as const), node }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), hours: fc.constantFrom(1, 30) }) },
  ),
  { maxLength: 60 },
);

test('read models of one log agree, and no acknowledged edit is undone by an edit that did not know it', () =>
  fc.assert(
    fc.asyncProperty(steps, async (plan) => {
      const log = new ModelLog();
      const nodes = [new Node(log), new Node(log), new Node(log)];
      for (const each of nodes) await each.begin();
      /** The reference: a read model that applies every record before compaction can remove it. */
      const watcher = new Node(log);
      await watcher.begin();
      /** Follows from time to time, and misses records that were compacted away. */
      const sleeper = new Node(log);
      await sleeper.begin();
      const truth = new Map<string, Oracle>();
      let edits = 0;
      let settledAtMs = log.nowMs;

      /** Appends an edit, and decides by the reference whether it knew the latest acknowledged edit. */
      async function append(at: Node, name: string, record: GeofenceRecord | null): Promise<void> {
        const bases = at.readModel.bases(kind, idOf(name));
        const known = at.readModel.revisionOf(kind, idOf(name))?.revision ?? -1;
        const offset = log.append(name, record, bases);
        await watcher.follow();
        const latest = truth.get(name)?.offset ?? -1;
        const isApplied = watcher.readModel.revisionOf(kind, idOf(name))?.revision === offset;
        expect(isApplied).toBe(known === latest);
        if (isApplied) truth.set(name, { offset, record });
      }

      async function restore(at: Node): Promise<void> {
        for (const { id } of at.readModel.contested(10)) {
          const name = names.find((each) => idOf(each) === id)!;
          await append(at, name, at.record(name));
        }
      }

      /** Restores records as nodes do, long before the lag has passed. */
      async function settle(): Promise<void> {
        for (const each of nodes) await each.follow();
        for (let round = 0; nodes.some((each) => each.readModel.contested(1).length > 0); round++) {
          expect(round).toBeLessThan(10);
          await restore(nodes[round % nodes.length]!);
          for (const each of nodes) await each.follow();
        }
        settledAtMs = log.nowMs;
      }

      async function run(step: Step): Promise<void> {
        if (step.kind === 'wait') {
          if (log.nowMs + step.hours * hourMs - settledAtMs >= lagMs) await settle();
          log.nowMs += step.hours * hourMs;
        } else if (step.kind === 'compact') {
          log.compact(log.end * step.share);
        } else if (step.kind === 'wake') {
          await sleeper.follow(step.count);
        } else if (step.kind === 'restart') {
          await nodes[step.node]!.begin();
        } else if (step.kind === 'follow') {
          await nodes[step.node]!.follow(step.count);
        } else if (step.kind === 'restore') {
          await restore(nodes[step.node]!);
        } else {
          const at = nodes[step.node]!;
          const existing = at.record(step.name);
          // An update or a deletion by id returns 404.
          if (existing === null && step.what !== 'upsert') return;
          const createdAt = existing?.createdAt ?? edits;
          const record = geofenceRecord({
            externalId: step.name,
            createdAt,
            updatedAt: ++edits,
            description: `${edits}`,
          });
          await append(at, step.name, step.what === 'delete' ? null : record);
        }
      }

      for (const step of plan) await run(step);
      await settle();
      log.nowMs += 2 * lagMs;
      log.compact(log.end);
      const late = new Node(log);
      await late.begin();
      await late.follow();
      await sleeper.follow();
      for (const each of [...nodes, watcher, sleeper, late]) {
        for (const name of names) expect(each.record(name)).toEqual(truth.get(name)?.record ?? null);
      }
      for (const readModel of opened) await readModel.close();
      opened = [];
    }),
    { numRuns: propertyRuns(30) },
  ));

const origin = (bases: readonly Base[] | null, timestampMs = 0): ChangeOrigin => ({
  offset: 100,
  timestampMs,
  edit: 'e',
  bases,
});
const revisionAt = (revision: number, deletedAtMs: number | null = null) => ({ revision, deletedAtMs });

test.each<[string, ReturnType<typeof revisionAt> | undefined, ChangeOrigin, boolean]>([
  ['a change of an older release is always applied', revisionAt(5), origin(null), true],
  ['the base is the current revision', revisionAt(5), origin([5]), true],
  ['the base was replaced', revisionAt(5), origin([4]), false],
  ['the base was deleted', revisionAt(5, 0), origin([4]), false],
  ['the record is unknown: its base was compacted away', undefined, origin([4]), true],
  ['the base is newer than the known revision: it was compacted away', revisionAt(5), origin([7]), true],
  ['a creation of a new record', undefined, origin(['absent']), true],
  ['a creation that did not know the record', revisionAt(5), origin(['absent']), false],
  ['a creation that knew the deletion', revisionAt(5, 0), origin([5, 'absent']), true],
  ['a creation that did not know the deletion', revisionAt(5, 0), origin(['absent']), false],
  ['a creation long after a forgotten deletion', revisionAt(5, 0), origin(['absent'], 31 * dayMs), true],
  ['invalid bases', revisionAt(5), origin([Number.NaN]), false],
])('%s', (_name, current, change, expected) => {
  expect(isApplicable(current, change)).toBe(expected);
});

test('reads back the headers of an edit, and ignores others', () => {
  const record = { offset: 7, timestamp: 9 } as LogRecord;
  expect(originOf(record)).toEqual({ offset: 7, timestampMs: 9, edit: null, bases: null });
  expect(originOf({ ...record, headers: { other: 'x' } })).toMatchObject({ edit: null, bases: null });
  expect(originOf({ ...record, headers: { edit: 'a', bases: '3,absent,5' } })).toMatchObject({
    edit: 'a',
    bases: [3, 'absent', 5],
  });
});

test('remembers a deletion as long as the topic keeps it', async () => {
  const readModel = openReadModel(temporaryFolder());
  onTestFinished(() => readModel.close());
  const id = idOf('x');
  const change = (record: GeofenceRecord | null, offset: number, timestampMs: number): DecodedChange => ({
    kind,
    id,
    record,
    origin: { offset, timestampMs, edit: null, bases: null },
  });
  await readModel.apply([change(geofenceRecord(), 0, 0), change(null, 1, 10)], 2);
  expect(readModel.revisionOf(kind, id)).toEqual({ revision: 1, deletedAtMs: 10 });
  expect(readModel.bases(kind, id)).toEqual([1, 'absent']);
  const other = (timestampMs: number): DecodedChange => ({
    ...change(geofenceRecord({ externalId: 'y' }), 2, timestampMs),
    id: idOf('y'),
  });
  await readModel.apply([other(30 * dayMs)], 3);
  expect(readModel.revisionOf(kind, id)).toBeDefined();
  await readModel.apply([other(32 * dayMs)], 4);
  expect(readModel.revisionOf(kind, id)).toBeUndefined();
  expect(readModel.bases(kind, id)).toEqual(['absent']);
});
