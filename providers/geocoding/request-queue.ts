/**
 * Decides when a request to a geocoding service is sent: projects take turns, and requests of one project go in order.
 *
 * Equal requests of several projects wait in the turns of each. The first turn sends the request, and all get its
 * answer. So a project that waits long never delays another that asks the same.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isPortError } from '../../pipeline/errors.js';
import { createFairLimit } from '../../pipeline/fair-limit.js';
import { ApiError } from '../../schemas/errors.js';
import type { GeocodingResult } from './geocoder.js';

/**
 * Admits requests to the service. Resolves to null when one may be sent now, else to the milliseconds until it makes
 * sense to ask again.
 */
export type Pace = () => Promise<number | null>;

/** The part of the port `ExpiringValues` that a pace needs. */
export interface Turns {
  put(key: string, value: string, ttlMs: number, condition: { readonly current: null }): Promise<boolean>;
}

/** Longest interval between two checks of whether it is a request's turn. */
const maxPollMs = 250;

/**
 * Creates a pace of at most `perSecond` requests a second by all processes that share `turns`: the process that stores
 * the value of a turn, which expires after the interval, may send. 0 removes the limit.
 */
export function createPace(service: string, perSecond: number, turns: Turns): Pace {
  if (perSecond <= 0) return async () => null;
  const intervalMs = Math.ceil(1_000 / perSecond);
  return async () => {
    const isOurs = await turns.put(`geocoding/${service}/turn`, randomUUID(), intervalMs, { current: null });
    return isOurs ? null : Math.min(intervalMs, maxPollMs);
  };
}

interface RequestQueueParts {
  /** Name of the service, for messages. */
  readonly service: string;
  readonly pace: Pace;
  /** Requests to the service at the same time. */
  readonly maxRunning: number;
  /** How long a request waits until it is sent. */
  readonly maxWaitMs: number;
}

/**
 * Sends a request in the project's turn, or returns the answer of an equal request that another caller has sent.
 * Returns the error `overloaded` if the project has too many waiting requests, or if no turn comes in time.
 * @param path identifies equal requests.
 */
type RequestQueue = (project: string, path: string, send: () => Promise<GeocodingResult>) => Promise<GeocodingResult>;

/** An import looks up 8 addresses at a time, so most of this share is left for the project's other requests. */
const maxWaitingPerProject = 128;
const retryAfterS = 1;

/** Equal requests that wait or are answered. */
interface Question {
  /** The callers that have not got the answer, one of which sends the request. */
  readonly waiting: Set<AbortController>;
  answer: Promise<GeocodingResult> | undefined;
}

/** Creates a queue with two limits that projects share: requests at the same time, and among them turns of the pace. */
export function createRequestQueue({ service, pace, maxRunning, maxWaitMs }: RequestQueueParts): RequestQueue {
  const limits = {
    maxWaitingPerProject,
    refusal: `too many requests of this project wait for ${service}`,
    retryAfterS,
  };
  const inPlace = createFairLimit({ ...limits, maxRunning });
  const atPace = createFairLimit({ ...limits, maxRunning: 1 });
  const questions = new Map<string, Question>();

  const overloaded = (what: string): GeocodingResult => ({
    ok: false,
    error: new ApiError('overloaded', `${what}; try again later`, { retryAfterS }),
  });

  async function waitForPace(signal: AbortSignal): Promise<void> {
    for (let waitMs = await pace(); waitMs !== null; waitMs = await pace()) await delay(waitMs, undefined, { signal });
  }

  function questionOf(path: string): Question {
    const question = questions.get(path) ?? { waiting: new Set(), answer: undefined };
    questions.set(path, question);
    return question;
  }

  /** Sends within the turn of the pace, so that no equal request can take the next one. */
  async function ask(
    project: string,
    question: Question,
    send: () => Promise<GeocodingResult>,
    place: AbortController,
  ): Promise<GeocodingResult> {
    await atPace(
      project,
      async () => {
        await waitForPace(place.signal);
        question.answer = send();
        for (const other of question.waiting) if (other !== place) other.abort();
      },
      place.signal,
    );
    return question.answer!;
  }

  return async (project, path, send) => {
    const question = questionOf(path);
    if (question.answer !== undefined) return question.answer;
    const place = new AbortController();
    question.waiting.add(place);
    const timer = setTimeout(() => place.abort(), maxWaitMs);
    try {
      return await inPlace(project, () => ask(project, question, send, place), place.signal);
    } catch (error) {
      if (question.answer !== undefined) return await question.answer;
      if (isPortError(error, 'overloaded')) return overloaded(error.message);
      if (!place.signal.aborted) throw error;
      return overloaded(`the request waited too long for ${service}, which geocoding.maxRequestsPerSecond paces`);
    } finally {
      clearTimeout(timer);
      question.waiting.delete(place);
      if (question.waiting.size === 0) questions.delete(path);
    }
  };
}
