import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';
import { deriveId } from '../../schemas/ids.js';
import type { Event } from '../../schemas/records.js';
import { propertyRuns } from '../../schemas/testing/property-runs.js';
import { until } from '../../testing/until.js';
import { createSerializer } from '../serialize.js';
import { EventStream } from './event-stream.js';
import { createFollowers, defaultFollowerBounds } from './followers.js';
import type { Position } from './position.js';
import { boundsOf } from './start.js';
import { Reader } from './testing/reader.js';
import { eventOf, eventsFrom, openTopic } from './testing/topic.js';

const { log, publish, close } = openTopic(3);
afterAll(close);

const types = ['a', 'b'];
const filters: readonly ((event: Event) => boolean)[] = [
  () => true,
  ({ type }) => type === 'a',
  ({ user, type }) => user?.deviceId === 'fleet/device/1' && type === 'b',
];

/** One run: its project, the end of the topic before it, and a reader per filter. */
interface World {
  readonly project: string;
  readonly base: Position;
  readonly readers: readonly Reader[];
  readonly published: Promise<void>[];
}

interface Step {
  readonly name: string;
  take(world: World): Promise<void> | void;
}

const which = fc.nat(filters.length - 1);
const drawnEvent = fc.record({ isMine: fc.boolean(), device: fc.nat(4), type: fc.constantFrom(...types) });

/** Publishes a few events at a time, so that the topic grows for a while. */
async function publishInTurn(events: readonly Event[]): Promise<void> {
  const atOnce = 3;
  for (let index = 0; index < events.length; index += atOnce) await publish(...events.slice(index, index + atOnce));
}

const publishing = fc
  .constantFrom(1, 2, 5, 20, 100)
  .chain((size) => fc.array(drawnEvent, { minLength: size, maxLength: size }))
  .map((drawn) => ({
    name: `publish ${drawn.length}`,
    take({ project, published }: World) {
      // Not awaited: readers connect and disconnect meanwhile.
      published.push(
        publishInTurn(drawn.map(({ isMine, ...like }) => eventOf(isMine ? project : deriveId('other'), like))),
      );
    },
  }));
const connecting = fc.tuple(which, fc.boolean()).map(([reader, isEarly]) => ({
  name: `connect ${reader} ${isEarly ? 'early' : 'now'}`,
  take: ({ readers, base }: World) => readers[reader]!.connect(isEarly ? base : undefined),
}));
const losing = fc.tuple(which, fc.double({ min: 0, max: 1, noNaN: true })).map(([reader, share]) => ({
  name: `lose ${reader} after ${share}`,
  take: ({ readers }: World) => readers[reader]!.disconnect(share),
}));
const doing = fc.tuple(which, fc.constantFrom('pause', 'pause', 'resume', 'look', 'beat')).map(([reader, what]) => ({
  name: `${what} ${reader}`,
  take: ({ readers }: World) => readers[reader]![what](),
}));
const waiting = fc.nat(4).map((turns) => ({
  name: `wait ${turns}`,
  async take() {
    for (let turn = 0; turn < turns; turn++) await nextTurn();
  },
}));
const step: fc.Arbitrary<Step> = fc
  .oneof(
    { weight: 5, arbitrary: publishing },
    { weight: 4, arbitrary: connecting },
    { weight: 2, arbitrary: losing },
    { weight: 6, arbitrary: doing },
    { weight: 4, arbitrary: waiting },
  )
  .map((drawn) => ({ ...drawn, toString: () => drawn.name }));

const endsOf = async () => (await boundsOf(log)).map(({ end }) => end);

/** Returns whether the reader is connected, reading and up to date. */
async function isThrough(reader: Reader, base: Position): Promise<boolean> {
  await reader.connect(base);
  reader.resume();
  reader.beat();
  await nextTurn();
  reader.look();
  const position = reader.position ?? [];
  return reader.isConnected && (await endsOf()).every((end, partition) => end === position[partition]);
}

describe('with concurrent publishing, lost connections and slow clients', () => {
  test('a reader gets each matching event once, in partition order', async () => {
    let runs = 0;
    let cuts = 0;
    let dropped = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 60 }), async (steps) => {
        runs += 1;
        const project = deriveId('project', `${runs}`);
        const followers = createFollowers(log, defaultFollowerBounds);
        const parts = {
          log,
          scope: `${project}/test`,
          serialize: createSerializer(Number.POSITIVE_INFINITY),
          maxUnsentBytes: 1_000,
          onDropped: () => {
            dropped += 1;
          },
        };
        const before = { cuts, dropped };
        const readers = filters.map(
          (matches) => new Reader(() => followers.join('project', 'key'), { ...parts, matches }),
        );
        const base = await endsOf();
        const published: Promise<void>[] = [];
        for (const { take } of steps) await take({ project, base, readers, published });
        await Promise.all(published);
        for (const [index, reader] of readers.entries()) {
          await until(() => isThrough(reader, base), { pollEveryMs: 2 });
          const isWanted = (event: Event) => event.project === project && filters[index]!(event);
          const expected = (await eventsFrom(log, reader.start!, isWanted)).map((events) => events.map(({ id }) => id));
          const got = expected.map((ids) => reader.ids.filter((id) => ids.includes(id)));
          expect(got).toEqual(expected);
          expect(reader.ids).toHaveLength(expected.flat().length);
          expect(reader.gaps).toEqual([]);
          cuts += reader.cuts;
        }
        // A reader may lose a dropped connection before it sees its end.
        expect(dropped - before.dropped).toBeGreaterThanOrEqual(cuts - before.cuts);
        for (const reader of readers) reader.disconnect(1);
      }),
      { numRuns: propertyRuns(100) },
    );
    // Otherwise the property would not cover slow readers.
    expect(cuts).toBeGreaterThan(0);
  });
});

test('readers switch from the log to the tailer while the topic grows continuously', async () => {
  const project = deriveId('project', 'hand-over');
  const followers = createFollowers(log, {
    maxFollowers: 1_000,
    maxFollowersPerProject: 1_000,
    maxFollowersPerKey: 1_000,
  });
  const base = await endsOf();
  let isGrowing = true;
  async function grow(): Promise<void> {
    for (let device = 0; isGrowing; device++) await publish(eventOf(project, { device: device % 7 }));
  }
  const growing = Promise.all([grow(), grow(), grow()]);
  const parts = {
    log,
    scope: `${project}/test`,
    serialize: createSerializer(Number.POSITIVE_INFINITY),
    maxUnsentBytes: 2 ** 20,
    matches: () => true,
  };
  const readers = Array.from({ length: 500 }, () => new Reader(() => followers.join('project', 'key'), parts));
  // Kept open throughout, so that the tailer keeps running.
  const place = await followers.join('project', 'key');
  for (const [index, reader] of readers.entries()) {
    // A slightly old position: there are records to read, and soon everything is read.
    await reader.connect((await endsOf()).map((end, partition) => Math.max(base[partition]!, end - (index % 5))));
    for (let turns = index % 4; turns >= 0; turns--) await nextTurn();
  }
  isGrowing = false;
  await growing;
  for (const reader of readers) {
    await until(() => isThrough(reader, base));
    const expected = (await eventsFrom(log, reader.start!, (event) => event.project === project)).flat();
    expect(reader.ids.toSorted()).toEqual(expected.map(({ id }) => id).toSorted());
    reader.disconnect(1);
  }
  place.leave();
});

// A client that read nothing held megabytes: all of one read of the log, or of one batch of the tailer.
describe('regression: what waits for a client that reads nothing is bounded with large events', () => {
  const project = deriveId('project', 'large');
  const large = () => ({
    ...eventOf(project),
    metadata: JSON.stringify(Object.fromEntries(Array.from({ length: 60 }, (_, key) => [key, 'x'.repeat(250)]))),
  });
  const partBytes = 2 ** 18;
  const eventBytes = 2 ** 15;

  async function open(from: Position | undefined) {
    const { tailer, leave } = await createFollowers(log, defaultFollowerBounds).join('project', 'key');
    const serialize = createSerializer(Number.POSITIVE_INFINITY);
    const matches = () => true;
    const parts = { log, tailer, serialize, scope: `${project}/test`, matches, from, maxUnsentBytes: partBytes };
    const stream = new EventStream(parts);
    const end = () => {
      stream.output.destroy();
      leave();
    };
    return { stream, tailer, end };
  }

  test('as it catches up', async () => {
    const base = await endsOf();
    await publish(...Array.from({ length: 200 }, large));
    const { stream, end } = await open(base);
    void stream.start();
    await until(() => stream.isSlow);
    expect(stream.output.readableLength).toBeLessThan(2 * partBytes);
    end();
  });

  test('as it listens', async () => {
    const { stream, tailer, end } = await open(undefined);
    await stream.start();
    const sizes: number[] = [];
    const listener = {
      scope: stream.scope,
      matches: stream.matches,
      receive: ({ length }: Buffer) => sizes.push(length),
    };
    tailer.listen(listener);
    await publish(...Array.from({ length: 50 }, large));
    await until(() => sizes.reduce((sum, bytes) => sum + bytes, 0) > 50 * 15_000);
    expect(Math.max(...sizes)).toBeLessThan(partBytes + eventBytes);
    expect(stream.output.destroyed).toBe(true);
    end();
  });
});

// A part was bounded for each client alone: hundreds of clients of one project got tens of megabytes in one turn, in
// which no other request was served.
test('regression: what many clients get of large events in one turn is bounded', async () => {
  const project = deriveId('project', 'many clients');
  const large = () => ({ ...eventOf(project), metadata: JSON.stringify({ filler: 'x'.repeat(60_000) }) });
  const clients = 100;
  const { tailer, leave } = await createFollowers(log, defaultFollowerBounds).join('many clients', 'key');
  let total = 0;
  let inTurn = 0;
  let most = 0;
  const receive = ({ length }: Buffer): void => {
    if (inTurn === 0) setImmediate(() => (inTurn = 0));
    inTurn += length;
    total += length;
    most = Math.max(most, inTurn);
  };
  const scope = `${project}/test`;
  for (let client = 0; client < clients; client++) tailer.listen({ scope, matches: () => true, receive });
  await publish(...Array.from({ length: 20 }, large));
  await until(() => total > 20 * clients * 60_000);
  expect(most).toBeLessThan(clients * 65_000);
  leave();
});

// Each client had a copy: what waited for a thousand slow ones took a gigabyte.
test('regression: clients that want the same events share their bytes', async () => {
  const project = deriveId('project', 'shared bytes');
  const { tailer, leave } = await createFollowers(log, defaultFollowerBounds).join('shared bytes', 'key');
  const listen = (matches: (event: Event) => boolean) => {
    const received: Buffer[] = [];
    const receive = (messages: Buffer) => void received.push(messages);
    tailer.listen({ scope: `${project}/test`, matches, receive });
    return { received, texts: () => Buffer.concat(received).toString().split('\n\n').slice(0, -1) };
  };
  const everything = [listen(() => true), listen(() => true), listen(() => true)];
  const some = [listen(({ type }) => type === 'b'), listen(({ type }) => type === 'b')];
  const others = listen(({ type }) => type === 'a');
  await publish(...Array.from({ length: 60 }, (_, index) => eventOf(project, { type: index % 3 === 0 ? 'b' : 'a' })));
  const [first, ...rest] = everything;
  await until(() => first!.texts().length === 60);
  // Several messages at once, or the test would tell nothing.
  expect(first!.received.length).toBeLessThan(60);
  for (const { received } of rest)
    for (const [index, bytes] of received.entries()) expect(bytes).toBe(first!.received[index]);
  for (const [index, bytes] of some[0]!.received.entries()) expect(bytes).toBe(some[1]!.received[index]);
  const isOfTypeB = (text: string) => text.includes('event: b');
  expect(some[0]!.texts()).toEqual(first!.texts().filter(isOfTypeB));
  expect(others.texts()).toEqual(first!.texts().filter((text) => !isOfTypeB(text)));
  leave();
});

describe('records that the topic no longer holds', () => {
  const project = deriveId('project', 'gaps');
  const newReader = () => {
    const followers = createFollowers(log, defaultFollowerBounds);
    const parts = {
      log,
      scope: `${project}/test`,
      serialize: createSerializer(Number.POSITIVE_INFINITY),
      maxUnsentBytes: 2 ** 20,
    };
    return new Reader(() => followers.join('project', 'key'), { ...parts, matches: () => true });
  };
  const many = (count: number) =>
    publish(...Array.from({ length: count }, (_, device) => eventOf(project, { device })));
  const forgetAll = () => log.sweep(Date.now() + 31 * 24 * 60 * 60 * 1_000);

  test('are reported by partition, and the stream continues with the oldest', async () => {
    const base = await endsOf();
    await many(30);
    const gone = await endsOf();
    await forgetAll();
    await many(3);
    const reader = newReader();
    await until(() => isThrough(reader, base));
    const missing = gone.map((end, partition) => ({ partition, missing: end - base[partition]! }));
    expect(reader.gaps).toEqual([{ partitions: missing }]);
    const held = (await eventsFrom(log, gone, () => true)).flat().map(({ id }) => id);
    expect(held).toHaveLength(3);
    expect(reader.ids.toSorted()).toEqual(held.toSorted());
    reader.disconnect(1);
  });

  test('are reported when they disappear while a slow client reads', async () => {
    const base = await endsOf();
    await many(2_000);
    const reader = newReader();
    await reader.connect(base);
    reader.pause();
    await nextTurn();
    await forgetAll();
    await until(() => isThrough(reader, base));
    const missing = reader.gaps.flatMap(({ partitions }) => partitions).reduce((sum, gap) => sum + gap.missing, 0);
    expect(reader.ids.length).toBeGreaterThan(0);
    expect(missing).toBeGreaterThan(0);
    expect(new Set(reader.ids).size + missing).toBe(2_000);
    reader.disconnect(1);
  });
});
