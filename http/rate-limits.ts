/**
 * Rate limits per key and, for tracking, per device.
 *
 * Each subject has a bucket that holds one second's worth of requests and refills steadily. A bucket is kept as the one
 * instant at which it would be full again, in a bounded map that forgets the least recently used.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { ApiError } from '../schemas/errors.js';

/** `bulk` routes have admission control of their own and aren't counted. */
export type LimitName = 'track' | 'query' | 'management' | 'bulk' | 'none';

/** Requests per second; 0: no limit. */
export interface RateLimits {
  readonly trackPerDevicePerSecond: number;
  readonly queryPerKeyPerSecond: number;
  readonly managementPerKeyPerSecond: number;
}

export interface Admission {
  readonly admitted: boolean;
  /** Requests that would be admitted right after this one. */
  readonly remaining: number;
  /** When the bucket is full again, epoch ms. */
  readonly fullAtMs: number;
  /** 0 when admitted. */
  readonly retryAfterMs: number;
}

const maxSubjects = 100_000;

/** Counts one request of `subject` at `nowMs` against `perSecond`. */
export type Limiter = (subject: string, perSecond: number, nowMs: number) => Admission;

export function createLimiter(): Limiter {
  const fullAt = new LRUCache<string, number>({ max: maxSubjects });
  return (subject, perSecond, nowMs) => {
    const intervalMs = 1_000 / perSecond;
    const capacityMs = Math.max(1_000, intervalMs);
    const backlogMs = Math.max(0, (fullAt.get(subject) ?? 0) - nowMs);
    const room = Math.floor((capacityMs - backlogMs) / intervalMs + 1e-9);
    if (room < 1) {
      return { admitted: false, remaining: 0, fullAtMs: nowMs + backlogMs, retryAfterMs: backlogMs + intervalMs - capacityMs };
    }
    const fullAtMs = nowMs + backlogMs + intervalMs;
    fullAt.set(subject, fullAtMs);
    return { admitted: true, remaining: room - 1, fullAtMs, retryAfterMs: 0 };
  };
}

/** The device that a track or replay body speaks of. */
function deviceOf(body: unknown): string | undefined {
  const { deviceId, replays } = (body ?? {}) as { deviceId?: unknown; replays?: unknown };
  if (typeof deviceId === 'string') return deviceId;
  return Array.isArray(replays) ? deviceOf(replays[0]) : undefined;
}

function subjectOf(request: FastifyRequest, limit: LimitName): string | undefined {
  const { caller } = request;
  if (caller === null) return undefined;
  const key = `${caller.project}/${caller.environment}`;
  if (limit !== 'track') return `${limit}/${key}/${caller.keyHint}`;
  const device = deviceOf(request.body);
  return device === undefined ? undefined : `track/${key}/${device.slice(0, 256)}`;
}

function answer(reply: FastifyReply, perSecond: number, admission: Admission): void {
  reply
    .header('X-RateLimit-Limit', perSecond)
    .header('X-RateLimit-Remaining', admission.remaining)
    .header('X-RateLimit-Reset', Math.ceil(admission.fullAtMs / 1_000));
  if (admission.admitted) return;
  const retryAfterS = Math.max(1, Math.ceil(admission.retryAfterMs / 1_000));
  throw new ApiError('rate_limited', `more than ${perSecond} requests a second`, { retryAfterS });
}

/** Adds the hook to the root instance. It runs when the body is known, since the device is named there. */
export function limitRates(app: FastifyInstance, limits: RateLimits, clock: () => number): void {
  const limiter = createLimiter();
  const perSecondOf: Record<LimitName, number> = {
    track: limits.trackPerDevicePerSecond,
    query: limits.queryPerKeyPerSecond,
    management: limits.managementPerKeyPerSecond,
    bulk: 0,
    none: 0,
  };
  app.addHook('preHandler', async (request, reply) => {
    const { limit = 'none' } = request.routeOptions.config;
    const perSecond = perSecondOf[limit];
    const subject = perSecond > 0 ? subjectOf(request, limit) : undefined;
    if (subject !== undefined) answer(reply, perSecond, limiter(subject, perSecond, clock()));
  });
}
