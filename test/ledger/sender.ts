/** Sends a workload: each device's locations in order, and each request again until it is acknowledged. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Keys } from '../../server/server-process.js';
import type { Answer, Client } from '../support/client.js';
import type { Report, Resource, Workload } from './workload.js';

/** A server, or a cluster of them. */
export interface Target {
  as(key: keyof Keys): Client;
}

/** Counts and limits the locations that a run sends, so that a fault happens before the workload is done. */
export class Progress {
  /** Locations acknowledged, each counted once. */
  acknowledged = 0;
  /** Locations that the senders have begun to send, each counted once. */
  begun = 0;
  /** The senders wait before they exceed this number. */
  limit = Number.POSITIVE_INFINITY;

  /** Resolves when this many more may be sent. */
  async begin(count: number): Promise<void> {
    while (this.begun + count > this.limit) await delay(retryAfterMs);
    this.begun += count;
  }
}

const senders = 10;
const stepsPerChunk = 5;
/** How many locations of each chunk go through /v1/track one by one. */
const singlesPerChunk = 2;
const retryAfterMs = 20;

/** Writes settings, geofences and beacons. They are in force afterwards. A busy node may ask to repeat an edit. */
export async function configure(target: Target, { settings, resources }: Workload): Promise<void> {
  const backend = target.as('test_secret');
  await acknowledged(() => backend.put('/v1/settings', settings));
  const put = ({ kind, externalId, fields }: Resource) =>
    acknowledged(() => backend.put(`/v1/${kind}/kill/${externalId}`, fields));
  await Promise.all(resources.map(put));
}

/** Resolves when every location is acknowledged. Spreads them over at least `overMs`. */
export async function send(target: Target, { devices }: Workload, progress: Progress, overMs = 0): Promise<void> {
  const startedAtMs = performance.now();
  const sendShare = async (number: number) => {
    const ours = devices.filter((_, index) => index % senders === number);
    const steps = ours[0]?.length ?? 0;
    for (let step = 0; step < steps; step += stepsPerChunk) {
      // Sequential steps keep each device's locations in order.
      const chunk = Array.from({ length: stepsPerChunk }, (_, index) =>
        ours.flatMap((device) => device[step + index] ?? []),
      ).flat();
      await progress.begin(chunk.length);
      await sendChunk(target, chunk, progress);
      // Each sender starts at another moment, so that some of them are active during a fault.
      const dueStep = Math.min(step + (stepsPerChunk * (number + 1)) / senders, steps);
      const dueMs = startedAtMs + (overMs * dueStep) / steps;
      await delay(Math.max(0, dueMs - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: senders }, (_, number) => sendShare(number)));
}

async function sendChunk(target: Target, chunk: readonly Report[], progress: Progress): Promise<void> {
  const [many, singles] = [chunk.slice(0, -singlesPerChunk), chunk.slice(-singlesPerChunk)];
  const { accepted, rejected } = await acknowledged(() => target.as('test_secret').bulk(many));
  if (accepted !== many.length || rejected !== 0)
    throw new Error(`${accepted} of ${many.length} accepted, ${rejected} rejected`);
  progress.acknowledged += many.length;
  for (const single of singles) {
    await acknowledged(() => target.as('test_publishable').post('/v1/track', single));
    progress.acknowledged += 1;
  }
}

/**
 * Repeats a request until it is answered 200 and returns the body. Fails on anything but a temporary refusal or a lost
 * connection.
 */
async function acknowledged(request: () => Promise<Answer>) {
  for (;;) {
    const answer = await request().catch((error: unknown) => error);
    if (isAnswer(answer)) {
      if (answer.status === 200) return answer.body;
      if (answer.status !== 503 && answer.status !== 429)
        throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
    }
    await delay(retryAfterMs);
  }
}

const isAnswer = (value: unknown): value is Answer => typeof value === 'object' && value !== null && 'status' in value;
