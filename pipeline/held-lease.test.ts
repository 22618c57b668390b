/**
 * Leases on the real embedded store, in virtual time.
 *
 * There were four of them, with four answers to a lost one. The lease of an import had none: after an outage two nodes
 * imported into a project at once.
 */
import { expect, test } from 'vitest';
import { PortError } from './errors.js';
import { createHeldLeases, type LeaseTerms } from './held-lease.js';
import { useVirtualValues } from './testing/virtual-values.js';

const terms = { leaseMs: 60_000, renewEveryMs: 5_000, closing: new AbortController().signal };
const key = 'work';
const values = useVirtualValues();
const { answered, pass } = values;

/** The store as one node sees it: calls fail during an outage, or hang until it ends, as retried ones do. */
function node(name: string) {
  let outage: 'fails' | 'hangs' | undefined;
  let end: () => void = () => {};
  let ended: Promise<void> = Promise.resolve();
  const reached = async <T>(call: () => Promise<T>): Promise<T> => {
    if (outage === 'fails') throw new PortError('unavailable', 'the store is out of reach');
    await ended;
    return call();
  };
  const leases = createHeldLeases({
    get: (...given) => reached(() => values.get(...given)),
    put: (...given) => reached(() => values.put(...given)),
    delete: (...given) => reached(() => values.delete(...given)),
  });
  return {
    hold: (more: Partial<LeaseTerms> = {}) => leases.hold(key, name, { ...terms, ...more }),
    begin(kind: 'fails' | 'hangs') {
      outage = kind;
      if (kind === 'hangs')
        ended = new Promise((resolve) => {
          end = resolve;
        });
    },
    async end() {
      outage = undefined;
      end();
      await answered();
    },
  };
}

test('one of those who compete holds it for as long as it takes, and the next one after its release', async () => {
  const nodes = ['a', 'b', 'c'].map(node);
  const held = await Promise.all(nodes.map((each) => each.hold()));
  const [first, ...more] = held.filter((lease) => lease !== undefined);
  expect(more).toEqual([]);
  const other = node('d');
  await pass(10 * terms.leaseMs);
  expect(first!.lost.aborted).toBe(false);
  expect(await other.hold()).toBeUndefined();
  await first!.release();
  const next = await other.hold();
  await pass(2 * terms.leaseMs);
  expect(next!.lost.aborted).toBe(false);
  expect(await values.get(key)).toBe('d');
  await next!.release();
  await pass(2 * terms.leaseMs);
  expect([next!.lost.aborted, await values.get(key)]).toEqual([false, undefined]);
});

test.each(['fails', 'hangs'] as const)('a store that %s for less than the lease does no harm', async (kind) => {
  const holder = node('a');
  const lease = await holder.hold();
  for (const outageMs of [1_000, 20_000, 45_000]) {
    holder.begin(kind);
    await pass(outageMs);
    await holder.end();
    await pass(terms.leaseMs);
    expect(lease!.lost.aborted).toBe(false);
    expect(await node('b').hold()).toBeUndefined();
  }
  await lease!.release();
});

test.each(['fails', 'hangs'] as const)('a store that %s for longer loses it, before another gets it', async (kind) => {
  const holder = node('a');
  const lease = await holder.hold();
  holder.begin(kind);
  await pass(terms.leaseMs - terms.renewEveryMs);
  expect(lease!.lost.aborted).toBe(true);
  const other = node('b');
  expect(await other.hold()).toBeUndefined();
  await pass(terms.renewEveryMs);
  const next = await other.hold();
  expect(next).toBeDefined();
  await holder.end();
  await pass(terms.leaseMs);
  await lease!.release();
  expect(await values.get(key)).toBe('b');
  expect(next!.lost.aborted).toBe(false);
  await next!.release();
});

test('one that its holder leaves stays until its time has passed, or until its value is replaced', async () => {
  const lease = await node('a').hold();
  await pass(terms.renewEveryMs);
  await lease!.leave();
  await pass(terms.leaseMs - 1_000);
  expect(await node('b').hold()).toBeUndefined();
  await pass(1_000);
  const next = await node('b').hold();
  await values.put(key, 'the result', terms.leaseMs, { current: 'b' });
  await next!.leave();
  await pass(terms.renewEveryMs);
  expect(await values.get(key)).toBe('the result');
});

test('one that another node got is lost at the next renewal, and its release leaves it to the other', async () => {
  const holder = node('a');
  const lease = await holder.hold();
  await values.delete(key);
  const next = await node('b').hold();
  await pass(terms.renewEveryMs);
  expect(lease!.lost.reason).toEqual(new Error('another one holds the lease'));
  await lease!.release();
  expect(await values.get(key)).toBe('b');
  await next!.release();
});

test('one that the store forgot is taken again', async () => {
  const holder = node('a');
  const lease = await holder.hold();
  await values.delete(key);
  await pass(terms.renewEveryMs);
  expect(await values.get(key)).toBe('a');
  expect(lease!.lost.aborted).toBe(false);
  await lease!.release();
});

test('a renewal that is under way does not take it again after its release', async () => {
  const holder = node('a');
  const lease = await holder.hold();
  holder.begin('hangs');
  await pass(terms.renewEveryMs);
  const released = lease!.release();
  await values.delete(key);
  await holder.end();
  await released;
  expect(await values.get(key)).toBeUndefined();
});

test('a release during an outage succeeds, and the lease expires', async () => {
  const holder = node('a');
  const lease = await holder.hold();
  holder.begin('fails');
  await lease!.release();
  await pass(terms.leaseMs - 1_000);
  expect(await node('b').hold()).toBeUndefined();
  await pass(1_000);
  expect(await node('b').hold()).toBeDefined();
});

test('one whose holder has ended is taken over, and another is not', async () => {
  const ended = await node('ended').hold();
  const asked: string[] = [];
  const isAbandoned = (holder: string) => {
    asked.push(holder);
    return holder === 'ended';
  };
  const lease = await node('a').hold({ isAbandoned });
  expect(lease).toBeDefined();
  expect(await node('b').hold({ isAbandoned })).toBeUndefined();
  expect(asked).toEqual(['ended', 'a']);
  await ended!.release();
  expect(await values.get(key)).toBe('a');
  await lease!.release();
});

// A client that saw the end of a replay was refused the next one if the first was just releasing its lease.
test('one whose holder releases it just before it is taken over is taken', async () => {
  const ended = await node('ended').hold();
  const isAbandoned = async () => {
    await ended!.release();
    return true;
  };
  const lease = await node('a').hold({ isAbandoned });
  expect(lease).toBeDefined();
  await lease!.release();
});

// Each caller asked afterwards whether its node had closed meanwhile, or did not ask, and its work went on.
test('one that is taken while the process stops is released', async () => {
  const stopping = new AbortController();
  const holder = node('a');
  holder.begin('hangs');
  const outcome = expect(holder.hold({ closing: stopping.signal })).rejects.toThrow('the server is stopping');
  stopping.abort(new Error('the server is stopping'));
  await holder.end();
  await outcome;
  expect(await values.get(key)).toBeUndefined();
  await expect(node('b').hold({ closing: stopping.signal })).rejects.toThrow('the server is stopping');
  expect(await values.get(key)).toBeUndefined();
});

// After a kill a node refused imports, replays, syncs and demos until the lease of the killed process expired.
test('an only node takes over what it does not hold itself, and a node beside others waits', async () => {
  await createHeldLeases(values).hold(key, 'killed', terms);
  const [only, shared] = [createHeldLeases(values, { isOnlyNode: true }), createHeldLeases(values)];
  expect(await Promise.all([only.holderOf(key), shared.holderOf(key)])).toEqual([undefined, 'killed']);
  expect(await shared.hold(key, 'a', terms)).toBeUndefined();
  const lease = await only.hold(key, 'b', terms);
  expect(await only.holderOf(key)).toBe('b');
  expect(await only.hold(key, 'c', terms)).toBeUndefined();
  await lease!.leave();
  const next = await only.hold(key, 'd', terms);
  await next!.release();
  expect(await only.hold(key, 'e', { ...terms, closing: AbortSignal.abort('stops') }).catch(String)).toBe('stops');
  expect(only.isOrphan('e')).toBe(true);
});

test('those of an only node who compete do not take it from each other', async () => {
  const leases = createHeldLeases(values, { isOnlyNode: true });
  const held = await Promise.all(['a', 'b', 'c'].map((holder) => leases.hold(key, holder, terms)));
  expect(held.filter((lease) => lease !== undefined)).toHaveLength(1);
});
