/**
 * Rate limits per key and project, and for locations per device as well.
 *
 * Each subject has a bucket that holds the allowance of one second and refills steadily. A bucket is stored as the time
 * at which it will be full again, in a bounded table that evicts the least recently used. A request that costs more
 * than one second's allowance is admitted by a full bucket and paid back afterwards. A replay of a thousand locations
 * must be possible under any limit.
 */
import { hash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { createBoundedCache } from '../../schemas/bounded-cache.js';
import { ApiError } from '../../schemas/errors.js';
import type { Caller } from './keys.js';

/** `track` and `bulk` routes count their locations themselves, once they are read; see {@link RateLimiter}. */
export type LimitName = 'track' | 'query' | 'management' | 'bulk' | 'none';

/** What one node admits per second; 0: no limit. */
export interface RateLimits {
  readonly trackPerDevicePerSecond: number;
  readonly trackPerKeyPerSecond: number;
  readonly trackPerProjectPerSecond: number;
  readonly locationsPerKeyPerSecond: number;
  readonly locationsPerProjectPerSecond: number;
  readonly queryPerKeyPerSecond: number;
  readonly managementPerKeyPerSecond: number;
}

interface BucketState {
  readonly admitted: boolean;
  /** Number of single requests that would be admitted right after. */
  readonly remaining: number;
  /** Time at which the bucket is full again, epoch ms. */
  readonly fullAtMs: number;
  /** 0 when admitted. */
  readonly retryAfterMs: number;
}

/** The buckets of one kind of subject. */
interface Buckets {
  /** Returns what {@link take} would do, and takes nothing. */
  ask(subject: string, perSecond: number, nowMs: number, cost?: number): BucketState;
  /** Takes the cost from a bucket, even when the bucket holds less. */
  take(subject: string, perSecond: number, nowMs: number, cost?: number): void;
}

/** More than the error of some ten thousand additions, less than any cost. */
const roundingMs = 1e-6;

/**
 * Creates the buckets of at most `maxSubjects` subjects.
 *
 * Each keeps how much of it is used, in milliseconds of refill, and since when. A single sum with the time of day would
 * lose the fractions of high rates: a double of today's epoch milliseconds has steps of 0.0002.
 */
export function createBuckets(maxSubjects: number): Buckets {
  const used = createBoundedCache<string, { readonly backlogMs: number; readonly atMs: number }>(maxSubjects);
  const backlogOf = (subject: string, nowMs: number): number => {
    const last = used.get(subject);
    if (last === undefined) return 0;
    if (nowMs >= last.atMs) return Math.max(0, last.backlogMs - (nowMs - last.atMs));
    // The clock was set back. The bucket refills from now on, or it would stay as it is for as long as the step.
    used.set(subject, { backlogMs: last.backlogMs, atMs: nowMs });
    return last.backlogMs;
  };
  return {
    ask(subject, perSecond, nowMs, cost = 1) {
      const intervalMs = 1_000 / perSecond;
      const capacityMs = Math.max(1_000, intervalMs);
      const backlogMs = backlogOf(subject, nowMs);
      const costMs = cost * intervalMs;
      const excessMs = backlogMs + Math.min(costMs, capacityMs) - capacityMs;
      if (excessMs > roundingMs)
        return { admitted: false, remaining: 0, fullAtMs: nowMs + backlogMs, retryAfterMs: excessMs };
      const remaining = Math.max(0, Math.floor((capacityMs - backlogMs - costMs + roundingMs) / intervalMs));
      return { admitted: true, remaining, fullAtMs: nowMs + backlogMs + costMs, retryAfterMs: 0 };
    },
    take(subject, perSecond, nowMs, cost = 1) {
      used.set(subject, { backlogMs: backlogOf(subject, nowMs) + (cost * 1_000) / perSecond, atMs: nowMs });
    },
  };
}

/**
 * A bucket refills within about a second, so evicting those that were not used for the longest lifts no limit. About 25
 * MB.
 */
const maxDevices = 100_000;
const maxKeys = 20_000;
/** Longer ids are stored as their hash, because the sender chooses their length. */
const maxSubjectCharacters = 80;

const boundedSubject = (subject: string): string =>
  subject.length <= maxSubjectCharacters ? subject : hash('sha256', subject, 'base64');

/** One bucket that a request takes from. */
interface Charge {
  readonly buckets: Buckets;
  readonly subject: string;
  readonly perSecond: number;
  readonly cost: number;
  /** Completes the message "more than 10 …". */
  readonly what: string;
}

/** Counts what is known only after the body is read. */
interface RateLimiter {
  /**
   * Counts the locations of a track or replay call by key, by project and, as one call each, by device. Throws
   * `rate_limited`, having counted nothing, when one of the buckets is exhausted. Devices are those of the locations as
   * they are evaluated.
   */
  countLocations(caller: Caller, reply: FastifyReply, locations: readonly { readonly deviceId: string }[]): void;
  /** Throws `rate_limited` when the bucket of the caller's project is exhausted. Counts nothing. */
  refuseUpload(caller: Caller, reply: FastifyReply): void;
  /** Counts the locations of an upload by project. Returns the milliseconds to wait before the next ones. */
  countUpload(caller: Caller, locations: number): number;
}

declare module 'fastify' {
  interface FastifyInstance {
    rateLimiter: RateLimiter;
  }
}

function sendHeaders(reply: FastifyReply, perSecond: number, state: BucketState): void {
  reply
    .header('X-RateLimit-Limit', perSecond)
    .header('X-RateLimit-Remaining', state.remaining)
    .header('X-RateLimit-Reset', Math.ceil(state.fullAtMs / 1_000));
}

function refuse(reply: FastifyReply, { perSecond, what }: Charge, state: BucketState): never {
  sendHeaders(reply, perSecond, state);
  const retryAfterS = Math.max(1, Math.ceil(state.retryAfterMs / 1_000));
  throw new ApiError('rate_limited', `more than ${perSecond} ${what}`, { retryAfterS });
}

/** Takes from all buckets or from none. The headers describe the bucket that is nearest to its limit. */
function admit(reply: FastifyReply, charges: readonly Charge[], nowMs: number): void {
  let tightest: { readonly charge: Charge; readonly state: BucketState } | undefined;
  const shareLeft = (charge: Charge, { remaining }: BucketState): number => remaining / charge.perSecond;
  for (const charge of charges) {
    const state = charge.buckets.ask(charge.subject, charge.perSecond, nowMs, charge.cost);
    if (!state.admitted) refuse(reply, charge, state);
    if (!tightest || shareLeft(charge, state) < shareLeft(tightest.charge, tightest.state))
      tightest = { charge, state };
  }
  for (const { buckets, subject, perSecond, cost } of charges) buckets.take(subject, perSecond, nowMs, cost);
  if (tightest) sendHeaders(reply, tightest.charge.perSecond, tightest.state);
}

/** Adds the hook to the root instance. Calls are counted before anything of the body is read. */
export function limitRates(app: FastifyInstance, limits: RateLimits, clock: () => number): void {
  const devices = createBuckets(maxDevices);
  const keys = createBuckets(maxKeys);
  const projectOf = ({ project }: Caller): string => `project/${project}`;
  const keyOf = ({ project, environment, keyHint }: Caller): string => `${project}/${environment}/${keyHint}`;
  const charge = (subject: string, perSecond: number, what: string, cost = 1): Charge[] =>
    perSecond === 0 ? [] : [{ buckets: keys, subject, perSecond, cost, what }];

  const chargesOfCall: Readonly<Record<LimitName, (caller: Caller) => Charge[]>> = {
    track: (caller) => [
      ...charge(`track/${keyOf(caller)}`, limits.trackPerKeyPerSecond, 'track calls a second with this key'),
      ...charge(`track/${projectOf(caller)}`, limits.trackPerProjectPerSecond, 'track calls a second in this project'),
    ],
    query: (caller) => charge(`query/${keyOf(caller)}`, limits.queryPerKeyPerSecond, 'requests a second with this key'),
    management: (caller) =>
      charge(`management/${keyOf(caller)}`, limits.managementPerKeyPerSecond, 'requests a second with this key'),
    bulk: () => [],
    none: () => [],
  };

  const chargesOfLocations = (caller: Caller, locations: number): Charge[] => [
    ...charge(
      `locations/${keyOf(caller)}`,
      limits.locationsPerKeyPerSecond,
      'locations a second with this key',
      locations,
    ),
    ...chargeOfProject(caller, locations),
  ];
  const chargeOfProject = (caller: Caller, locations: number): Charge[] =>
    charge(
      `locations/${projectOf(caller)}`,
      limits.locationsPerProjectPerSecond,
      'locations a second in this project',
      locations,
    );

  function chargesOfDevices(caller: Caller, locations: readonly { readonly deviceId: string }[]): Charge[] {
    const perSecond = limits.trackPerDevicePerSecond;
    if (perSecond === 0) return [];
    const ids = new Set(locations.map(({ deviceId }) => deviceId));
    return Array.from(ids, (id) => ({
      buckets: devices,
      subject: boundedSubject(`${caller.project}/${caller.environment}/${id}`),
      perSecond,
      cost: 1,
      what: 'track calls a second from this device',
    }));
  }

  app.decorate('rateLimiter', {
    countLocations(caller, reply, locations) {
      admit(reply, [...chargesOfDevices(caller, locations), ...chargesOfLocations(caller, locations.length)], clock());
    },
    refuseUpload(caller, reply) {
      const nowMs = clock();
      for (const charge of chargeOfProject(caller, 1)) {
        const state = charge.buckets.ask(charge.subject, charge.perSecond, nowMs);
        if (!state.admitted) refuse(reply, charge, state);
      }
    },
    countUpload(caller, locations) {
      const nowMs = clock();
      let waitMs = 0;
      for (const { buckets, subject, perSecond, cost } of chargeOfProject(caller, locations)) {
        buckets.take(subject, perSecond, nowMs, cost);
        waitMs = Math.max(waitMs, buckets.ask(subject, perSecond, nowMs).retryAfterMs);
      }
      return waitMs;
    },
  } satisfies RateLimiter);

  app.addHook('onRequest', async (request, reply) => {
    const { limit = 'none' } = request.routeOptions.config;
    if (request.caller !== null) admit(reply, chargesOfCall[limit](request.caller), clock());
  });
}
