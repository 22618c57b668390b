/** What engines over HTTP share. */
import Type, { type Static } from 'typebox';
import type { Position } from '../../schemas/json/common.js';
import { cutText } from '../../schemas/wording.js';
import { type Answer, isFinalRefusal, refusal, shownReason } from '../answer.js';
import type { JsonClient, JsonRequest } from '../json-request.js';
import type { Leg } from '../routes/provider.js';
import type { RoadBoundary } from './boundary.js';
import { AmountOrNull, type EngineState, type RoadEngine } from './engine.js';

/** Where an engine is, and which part of the world it knows. */
export interface HttpEngineOptions {
  readonly url: string;
  /** Empty: none. */
  readonly apiKey: string;
  /** Where the provider's road data ends, as far as the operator says it. */
  readonly boundary: RoadBoundary | undefined;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * Returns the error for an answer that no adapter knows: `not_available` with the service's reason if the service would
 * refuse the request again, else `unavailable`.
 */
export function unknownFailure(status: number, reason: string): ReturnType<typeof refusal> {
  if (!isFinalRefusal(status))
    return refusal('unavailable', `the provider of road data answered with status ${status}`);
  const said = reason === '' ? '' : `: ${shownReason(reason)}`;
  return refusal('not_available', `the provider of road data refused the request with status ${status}${said}`);
}

const rememberedMs = 600_000;
const retryAfterMs = 5_000;
const timeoutMs = 5_000;

/** What a provider answered as JSON. Nothing is checked yet. */
export type Said = Readonly<Record<string, unknown>>;

/**
 * Asks for the state at most every ten minutes, and every few seconds while the service does not tell it.
 * @param stateOf reads what the service said last; undefined if it has never answered with 200 and an object.
 */
export function rememberState(
  client: JsonClient,
  request: Omit<JsonRequest, 'signal'>,
  stateOf: (said: Said | undefined) => Answer<EngineState>,
  now = () => performance.now(),
): () => Promise<Answer<EngineState>> {
  let said: Said | undefined;
  let asking: Promise<void> | undefined;
  let askAgainAtMs = -Infinity;

  async function ask(): Promise<void> {
    const response = await client.request({ ...request, signal: AbortSignal.timeout(timeoutMs) });
    const { status, body } = response.ok ? response.value : { status: 0, body: undefined };
    const isTold = status === 200 && typeof body === 'object' && body !== null;
    if (isTold) said = body as Said;
    askAgainAtMs = now() + (isTold ? rememberedMs : retryAfterMs);
    asking = undefined;
  }

  return async () => {
    if (now() >= askAgainAtMs) asking ??= ask();
    await asking;
    return stateOf(said);
  };
}

/** The path of a route; positions may have altitudes. */
export const Path = Type.Array(Type.Array(Type.Number(), { minItems: 2 }));
/** Returns the positions of a path without altitudes. */
export const pathOf = (path: Static<typeof Path>): Position[] => path.map(([x, y]) => [x!, y!]);
/** Amounts by origin and destination; null, or missing, where there is no route. */
export const Table = Type.Array(Type.Array(AmountOrNull));

/** Returns the legs of a matrix from its distances in metres and its durations in seconds. */
export const legsOf = (
  { origins, destinations }: Parameters<RoadEngine['matrix']>[0],
  distancesM: Static<typeof Table>,
  durationsS: Static<typeof Table>,
): (Leg | null)[][] =>
  origins.map((_, from) =>
    destinations.map((_, to) => {
      const [distanceM, durationS] = [distancesM[from]?.[to], durationsS[from]?.[to]];
      return typeof distanceM === 'number' && typeof durationS === 'number' ? { distanceM, durationS } : null;
    }),
  );

const maxVersionCharacters = 100;

/** Returns the version that a service says; null without one. */
export const versionOf = (value: unknown): string | null =>
  typeof value === 'string' ? cutText(value, maxVersionCharacters).toWellFormed() : null;

const lastDateMs = Date.UTC(9999, 11, 31);

/** Returns a date as epoch ms, from epoch ms or as text; null without a date from 1970 to 9999. */
export function dateOf(value: unknown): number | null {
  const time =
    typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? Math.round(value) : Number.NaN;
  return time >= 0 && time <= lastDateMs ? time : null;
}
