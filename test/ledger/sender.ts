/**
 * Sends a workload as its devices and backends would: each device's locations in order, each request again until it is
 * acknowledged.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Keys } from '../../server/server-process.js';
import { type Answer, type Client, ok } from '../support/client.js';
import type { Report, Resource, Workload } from './workload.js';

/** A server, or a cluster of them. */
export interface Target {
  as(key: keyof Keys): Client;
}

/** How far a run has come. */
export class Progress {
  /** Locations acknowledged, each counted once. */
  acknowledged = 0;
}

const lanes = 10;
const stepsPerChunk = 5;
/** Of each chunk, so many locations go one by one through /v1/track. */
const singlesPerChunk = 2;
const retryAfterMs = 20;

/** Puts settings, fences and beacons; all of it is in force afterwards. */
export async function configure(target: Target, { settings, resources }: Workload): Promise<void> {
  const backend = target.as('test_secret');
  ok(await backend.put('/v1/settings', settings));
  const put = ({ kind, externalId, fields }: Resource) => backend.put(`/v1/${kind}/kill/${externalId}`, fields);
  for (const answer of await Promise.all(resources.map(put))) ok(answer);
}

/**
 * Resolves when every location is acknowledged, and not before `overMs` have passed, over which the sending is spread.
 */
export async function send(target: Target, { devices }: Workload, progress: Progress, overMs = 0): Promise<void> {
  const startedAtMs = performance.now();
  const lane = async (number: number) => {
    const ours = devices.filter((_, index) => index % lanes === number);
    const steps = ours[0]?.length ?? 0;
    for (let step = 0; step < steps; step += stepsPerChunk) {
      // Step after step, so that each device's locations stay in order.
      const chunk = Array.from({ length: stepsPerChunk }, (_, index) =>
        ours.flatMap((device) => device[step + index] ?? []),
      ).flat();
      await sendChunk(target, chunk, progress);
      const dueMs = startedAtMs + (overMs * Math.min(step + stepsPerChunk, steps)) / steps;
      await delay(Math.max(0, dueMs - performance.now()));
    }
  };
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
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
 * The body of the first answer of 200. Anything that isn't a refusal for now or a lost connection is a failure of the
 * test.
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
