/**
 * How much a project receives, and how far evaluation is behind.
 *
 * Rates come from the analytics store, which lags by about a second. They are read at most every two seconds for each
 * project and environment, however many clients ask. The lag is the installation's: projects share its partitions.
 */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, described, success } from '../../http/describe.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { scopeName } from '../../pipeline/records/device-key.js';
import { createBoundedCache } from '../../schemas/bounded-cache.js';
import { hasElapsed } from '../../schemas/durations.js';
import { Timestamp } from '../../schemas/json/common.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import { where } from '../sql.js';

const intervalMs = 5_000;
const intervals = 60;
const readEveryMs = 2_000;
/** Projects and environments whose rates are kept. */
const maxKept = 1_000;

interface Rates {
  readonly at: string;
  readonly intervalMs: number;
  readonly locations: readonly number[];
  readonly events: readonly number[];
}

const counts = (description: string) => Type.Array(Type.Integer({ minimum: 0 }), { description });

const Status = Type.Object(
  {
    at: Timestamp,
    intervalMs: Type.Integer(),
    locations: counts('Received in each interval, oldest first; the last one ends at `at`'),
    events: counts('Caused in each interval'),
    waitingLocations: Type.Optional(
      Type.Integer({ description: 'Accepted locations of all projects that are not evaluated yet' }),
    ),
    lagMs: Type.Optional(Type.Number({ description: 'Age of the oldest of them; 0 if there is none' })),
  },
  { $id: 'Status', description: 'Rates of the last 5 minutes, and the lag of evaluation' },
);

async function readRates({ analytics }: Pick<ApiDependencies, 'analytics'>, scope: Scope, nowMs: number) {
  const fromMs = nowMs - intervalMs * intervals;
  async function countsOf(table: 'locations' | 'events', column: string): Promise<number[]> {
    const { sql, parameters } = where(scope, [
      [`${column} > {time}`, fromMs],
      [`${column} <= {time}`, nowMs],
    ]);
    const rows = await analytics.query<{ slot: number; count: number }>(
      `SELECT toUInt32(intDiv(toUnixTimestamp64Milli(${column}) - {from:Int64} - 1, ${intervalMs})) AS slot,
          toUInt32(count()) AS count
        FROM ${table} WHERE ${sql} GROUP BY slot SETTINGS max_execution_time = 10`,
      { ...parameters, from: fromMs },
    );
    const found = Array.from({ length: intervals }, () => 0);
    for (const { slot, count } of rows) if (slot < intervals) found[slot] = count;
    return found;
  }
  const [locations, events] = await Promise.all([
    countsOf('locations', 'received_at'),
    countsOf('events', 'actual_created_at'),
  ]);
  return { at: isoTime(nowMs), intervalMs, locations, events };
}

/** Serves GET /v1/status. */
export const statusRoutes =
  ({ analytics, clock, lag }: Pick<ApiDependencies, 'analytics' | 'clock' | 'lag'>): FastifyPluginAsync =>
  async (app) => {
    const kept = createBoundedCache<string, { readonly readAtMs: number; readonly rates: Promise<Rates> }>(maxKept);

    function ratesOf(scope: Scope): Promise<Rates> {
      const key = scopeName(scope);
      const nowMs = clock();
      const known = kept.get(key);
      if (known && !hasElapsed(readEveryMs, known.readAtMs, nowMs)) return known.rates;
      const rates = readRates({ analytics }, scope, nowMs);
      kept.set(key, { readAtMs: nowMs, rates });
      rates.catch(() => kept.delete(key));
      return rates;
    }

    app.get('/v1/status', {
      config: { authority: 'secret', limit: 'management' },
      schema: described({
        operationId: 'getStatus',
        tag: 'events',
        summary: 'Get rates of locations and events, and the lag of evaluation',
        answer: answerOf({ status: Status }),
      }),
      handler: async (request) => {
        const { project, environment } = callerOf(request);
        const [rates, behind] = await Promise.all([ratesOf({ project, environment }), lag?.()]);
        return { meta: success, status: { ...rates, ...behind } };
      },
    });
  };
