/** Serves GET /v1/analytics/…: queries over stored events and locations, answered as JSON, CSV or Parquet. */
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import { contentOf, described } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { createTurns, runInTurns } from '../../schemas/turns.js';
import { isoTime } from '../../schemas/wire/common.js';
import type { ApiDependencies } from '../dependencies.js';
import { withDescriptions } from './descriptions.js';
import { defaultJsonRows, fileTypes, formatSchema, type OutputFormat, readFormat, readRowLimit } from './formats.js';
import { dwellTimes } from './queries/dwell-times.js';
import { entries } from './queries/entries.js';
import { flows } from './queries/flows.js';
import { inside } from './queries/inside.js';
import { locations } from './queries/locations.js';
import { uniqueUsers } from './queries/unique-users.js';
import { visits } from './queries/visits.js';
import type { Query, QueryStatement } from './query.js';
import { createQueryRunner, type QueryRunner } from './query-runner.js';
import { type Range, rangeParameters, rangeSchema, readRange } from './range.js';

/** All queries. Each has a route under /v1/analytics. */
export const queries: readonly Query[] = [visits, dwellTimes, entries, uniqueUsers, flows, inside, locations];

const config = { authority: 'secret', limit: 'management' } as const;

interface AnalyticsRequest {
  readonly range: Range;
  /** Null: JSON. */
  readonly format: OutputFormat | null;
  readonly limit: number | null;
  readonly statement: QueryStatement;
}

function readRequest(query: Query, request: FastifyRequest, nowMs: number): Outcome<AnalyticsRequest> {
  const reader = new FieldReader(request.query as RawFields);
  const { project, environment } = callerOf(request);
  const range = readRange(reader, nowMs, query.aheadMs);
  const format = readFormat(reader, request.headers.accept);
  const limit = readRowLimit(reader, format);
  const { parameters, ...statement } = query.build(reader);
  const bound = { ...parameters, ...rangeParameters(range), project, environment };
  return reader.outcome(() => ({ range, format, limit, statement: { ...statement, parameters: bound } }));
}

/** Places that are named before other work goes on. */
const rowsPerTurn = 100;

type Rows = (rows: readonly object[]) => Promise<readonly object[]>;

async function answer(
  runner: QueryRunner,
  { range, statement, limit }: AnalyticsRequest & { readonly limit: number },
  named: Rows,
  signal: AbortSignal,
) {
  const rows = await runner.rows(statement, limit, signal);
  const times = { from: isoTime(range.fromMs), to: isoTime(range.toMs) };
  return {
    meta: { code: 200, hasMore: rows.length > limit, ...times, ...statement.meta },
    rows: await named(rows.slice(0, limit)),
  };
}

/** Returns a name such as `visits_20260301T000000Z_20260401T000000Z.csv`. */
function fileName(query: Query, { fromMs, toMs }: Range, extension: string): string {
  const [from, to] = [fromMs, toMs].map((timeMs) => isoTime(timeMs).replace(/[-:]|\.\d+/g, ''));
  return `${query.name}_${from}_${to}.${extension}`;
}

async function sendFile(
  runner: QueryRunner,
  query: Query,
  parsed: AnalyticsRequest & { readonly format: OutputFormat },
  reply: FastifyReply,
) {
  const { format, statement, limit, range } = parsed;
  const file = await runner.file(statement, format, limit, leavingOf(reply));
  return reply
    .header('Content-Type', format.contentType)
    .header('Content-Disposition', `attachment; filename="${fileName(query, range, format.extension)}"`)
    .send(file);
}

const jsonSchema = ({ row, meta }: Query) =>
  Type.Object({
    meta: Type.Object({
      code: Type.Integer(),
      hasMore: Type.Boolean(),
      from: Type.String({ format: 'date-time' }),
      to: Type.String({ format: 'date-time' }),
      ...meta,
    }),
    rows: Type.Array(row),
  });

const answerSchema = (query: Query) =>
  contentOf({
    'application/json': jsonSchema(query),
    ...Object.fromEntries(
      fileTypes.map((type) => [
        type,
        Type.String({ description: 'The same rows, without the present descriptions of places' }),
      ]),
    ),
  });

/** Serves GET /v1/analytics/… for every query. Concurrency is bounded for each project. */
export const analyticsRoutes =
  ({
    analytics,
    maxQueryMemoryMib,
    configuration,
    clock,
  }: Pick<ApiDependencies, 'analytics' | 'maxQueryMemoryMib' | 'configuration' | 'clock'>): FastifyPluginAsync =>
  async (app) => {
    const runner = createQueryRunner(analytics, maxQueryMemoryMib);
    const nextTurn = createTurns();
    for (const query of queries) {
      app.get(`/v1/analytics/${query.name}`, {
        config,
        schema: described({
          operationId: query.operationId,
          tag: 'analytics',
          summary: query.summary,
          description: query.description,
          querystring: Type.Object({ ...rangeSchema, ...query.parameters, ...formatSchema }),
          answer: answerSchema(query),
        }),
        handler: async (request, reply) => {
          const parsed = accepted(readRequest(query, request, clock()));
          const { format, limit } = parsed;
          if (format !== null) return sendFile(runner, query, { ...parsed, format }, reply);
          const scope = callerOf(request);
          const leaving = leavingOf(reply);
          const named = (rows: readonly object[]) =>
            runInTurns(withDescriptions(rows, scope, configuration), nextTurn, rowsPerTurn, leaving);
          return answer(runner, { ...parsed, limit: limit ?? defaultJsonRows }, named, leaving);
        },
      });
    }
  };
