/** Compares a delivery queue with plain lists, the oracle of its contract. */
import fc from 'fast-check';
import { expect } from 'vitest';
import type {
  DeliveryClaim,
  DeliveryPlace,
  DeliveryQueue,
  DeliverySource,
  Settlement,
  WaitingDelivery,
} from '../../pipeline/ports.js';
import type { Backend, BackendSite } from './backend.js';

export const sources: readonly DeliverySource[] = [
  { topic: 'events', partition: 0 },
  { topic: 'events', partition: 1 },
  { topic: 'deliveries', partition: 0 },
];

/** The smallest and the largest id, and neighbours. */
export const hooks = [
  '000000000000000000000000',
  '65f0a1b2c3d4e5f600000001',
  '65f0a1b2c3d4e5f600000002',
  'ffffffffffffffffffffffff',
];

/** A moment in epoch ms. */
export const noon = 1_700_000_000_000;

export interface Added {
  readonly webhook: string;
  readonly dueAtMs: number;
  readonly text: string;
}

/** Returns the batch that adds these deliveries with the next position. */
export const batchOf = (expectedOffset: number, nextOffset: number, added: readonly Added[]) => ({
  expectedOffset,
  nextOffset,
  deliveries: added.map(({ webhook, dueAtMs, text }) => ({ webhook, dueAtMs, value: Buffer.from(text) })),
});

/** Returns the answer of `webhooks`, sorted. */
export const webhooksOf = async (queue: DeliveryQueue, source: DeliverySource): Promise<(string | number)[][]> =>
  (await queue.webhooks(source)).map(({ webhook, nextDueAtMs }) => [webhook, nextDueAtMs]).sort();

/** Returns all deliveries that wait for the webhook, read a few at a time. */
async function allWaiting(
  queue: DeliveryQueue,
  source: DeliverySource,
  webhook: string,
  limit = 3,
): Promise<WaitingDelivery[]> {
  const all: WaitingDelivery[] = [];
  for (;;) {
    const page = await queue.waiting(source, webhook, limit, all.at(-1));
    all.push(...page);
    if (page.length < limit) return all;
  }
}

type ModelDelivery = DeliveryPlace & { readonly attempts: number; readonly text: string };

/** A source's queue as plain values. */
class ModelQueue {
  token = 0;
  nextOffset = 0;
  nextSequence = 0;
  deliveries: ModelDelivery[] = [];

  add(nextOffset: number, added: readonly Added[]): void {
    for (const each of added) this.deliveries.push({ ...each, sequence: this.nextSequence++, attempts: 0 });
    this.nextOffset = nextOffset;
  }

  settle({ place, next }: Settlement): void {
    const { webhook, dueAtMs, sequence } = place;
    this.deliveries = this.deliveries.flatMap((each) => {
      if (each.webhook !== webhook || each.dueAtMs !== dueAtMs || each.sequence !== sequence) return [each];
      return next === null ? [] : [{ ...each, ...next }];
    });
  }

  drop(webhook: string): void {
    this.deliveries = this.deliveries.filter((each) => each.webhook !== webhook);
  }

  waiting(webhook: string): ModelDelivery[] {
    const waiting = this.deliveries.filter((each) => each.webhook === webhook);
    return waiting.sort((a, b) => a.dueAtMs - b.dueAtMs || a.sequence - b.sequence);
  }
}

const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const owner = fc.constantFrom(0, 0, 0, 1);
const which = fc.nat(sources.length - 1);
const webhook = fc.constantFrom(...hooks);
const dueAtMs = fc.constantFrom(0, 1, noon, noon + 1, noon + 0x1_0000_0000);

const added = fc.record({ webhook, dueAtMs, text: fc.string({ maxLength: 4 }) });
/** The sequence of a waiting delivery, by number, or one beside it. */
const pick = fc.record({
  index: fc.nat(20),
  beside: fc.constantFrom(false, false, true),
  next: fc.option(fc.record({ dueAtMs, attempts: fc.nat(9) })),
});

const claim = fc.record({ kind: kind('claim'), owner, which });
const add = fc.record({
  kind: kind('add'),
  owner,
  which,
  lead: fc.constantFrom(0, 0, 0, 1),
  added: fc.array(added, { maxLength: 6 }),
});
const settle = fc.record({ kind: kind('settle'), owner, which, picks: fc.array(pick, { maxLength: 6 }) });
const drop = fc.record({ kind: kind('drop'), owner, which, webhook });
const reopen = fc.record({ kind: kind('reopen') });

export const anyStep = fc.oneof(
  { weight: 1, arbitrary: claim },
  { weight: 5, arbitrary: add },
  { weight: 5, arbitrary: settle },
  { weight: 1, arbitrary: drop },
  { weight: 1, arbitrary: reopen },
);

type StepOf<Arbitrary> = Arbitrary extends fc.Arbitrary<infer Value> ? Value : never;
type Step = StepOf<typeof anyStep>;

/** Performs steps on a queue and on the model, by two owners, and compares the results. */
export class RunBesideModel {
  private backend!: Backend;
  private readonly models = sources.map(() => new ModelQueue());
  /** By owner and source. */
  private readonly claims = new Map<string, DeliveryClaim>();

  constructor(private readonly place: BackendSite) {}

  async start(): Promise<void> {
    this.backend = await this.place.open();
    for (const owner of [1, 0]) for (const which of sources.keys()) await this.claim(owner, which);
  }

  async take(step: Step): Promise<void> {
    if (step.kind === 'reopen') {
      await this.end();
      this.backend = await this.place.open();
    } else if (step.kind === 'claim') await this.claim(step.owner, step.which);
    else {
      const { answer, expected } = await this.change(step);
      expect(answer).toBe(expected ? 'committed' : 'fenced');
    }
  }

  /** Compares the whole content. */
  async end(): Promise<void> {
    const { deliveryQueue } = this.backend;
    for (const [which, model] of this.models.entries()) await expectSame(deliveryQueue, sources[which]!, model);
    expect(await deliveryQueue.size()).toBe(this.models.reduce((sum, { deliveries }) => sum + deliveries.length, 0));
    await this.backend.close();
  }

  private async claim(owner: number, which: number): Promise<void> {
    const model = this.models[which]!;
    const claim = await this.backend.deliveryQueue.claim(sources[which]!);
    // The queue may choose where sequences begin.
    if (model.token === 0) model.nextSequence = claim.nextSequence;
    expect(claim).toMatchObject({
      source: sources[which]!,
      nextOffset: model.nextOffset,
      nextSequence: model.nextSequence,
    });
    expect(claim.token).toBeGreaterThan(model.token);
    model.token = claim.token;
    this.claims.set(`${owner}/${which}`, claim);
  }

  /** The queue's result, and whether the model changed. */
  private async change(
    step: Exclude<Step, { kind: 'claim' | 'reopen' }>,
  ): Promise<{ answer: string; expected: boolean }> {
    const { deliveryQueue } = this.backend;
    const model = this.models[step.which]!;
    const claim = this.claims.get(`${step.owner}/${step.which}`)!;
    const rightful = claim.token === model.token;
    if (step.kind === 'add') {
      const from = model.nextOffset + step.lead;
      const expected = rightful && step.lead === 0;
      if (expected) model.add(from + 1, step.added);
      return { answer: await deliveryQueue.add(claim, batchOf(from, from + 1, step.added)), expected };
    }
    if (step.kind === 'drop') {
      if (rightful) model.drop(step.webhook);
      return { answer: await deliveryQueue.drop(claim, step.webhook), expected: rightful };
    }
    const settlements = step.picks.flatMap(({ index, beside, next }): Settlement[] => {
      const found = model.deliveries[index % Math.max(1, model.deliveries.length)];
      return found === undefined ? [] : [{ place: beside ? { ...found, dueAtMs: found.dueAtMs + 7 } : found, next }];
    });
    if (rightful) settlements.forEach((each) => void model.settle(each));
    return { answer: await deliveryQueue.settle(claim, settlements), expected: rightful };
  }
}

async function expectSame(queue: DeliveryQueue, source: DeliverySource, model: ModelQueue): Promise<void> {
  for (const webhook of hooks) {
    const waiting = await allWaiting(queue, source, webhook);
    expect(waiting.map(({ value, ...rest }) => ({ ...rest, text: value.toString() }))).toEqual(model.waiting(webhook));
  }
  const firsts = hooks.map((webhook) => [webhook, model.waiting(webhook)[0]?.dueAtMs]);
  expect(await webhooksOf(queue, source)).toEqual(firsts.filter(([, first]) => first !== undefined));
}
