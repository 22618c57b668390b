/** Lists delivery attempts of a webhook from the analytics store, newest first. */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import type { ListCursor } from '../../pipeline/catalog/types.js';
import type { Analytics } from '../../pipeline/ports.js';
import { type Attempt, AttemptState, attemptResults, type WebhookRecord } from '../../schemas/json/webhook.js';
import type { Attempt as AttemptRecord, DeliveryReason } from '../../schemas/records.js';
import { attemptJson } from '../../schemas/wire/webhook.js';
import { pageOf, readCursor, readLimit, readTimeBounds } from '../lists.js';
import type { Page } from '../page.js';
import { type Statement, where } from '../sql.js';

/** The query of a list of attempts. Bounds are exclusive, epoch ms; null: any. */
interface AttemptQuery {
  readonly limit: number;
  readonly before?: number;
  readonly after?: number;
  readonly cursor: ListCursor | null;
  readonly result: string | null;
  readonly state: string | null;
  /** `webhook-id` of the request. */
  readonly delivery: string | null;
  /** `_id` of an event in the body. */
  readonly event: string | null;
}

/** A row of table `webhook_attempts`. */
interface AttemptRow
  extends Pick<AttemptRecord, 'id' | 'attempt' | 'duration_ms' | 'url' | 'result' | 'state' | 'status'> {
  readonly timeMs: number;
  readonly delivery: string;
  readonly events: string[];
  readonly reason: DeliveryReason;
  /** Empty: none. */
  readonly message: string;
  readonly nextAttemptMs: number | null;
  /** JSON; empty: no answer. */
  readonly response_headers: string;
  readonly response_body: string;
  readonly request_body: string;
}

const columns =
  'id, toUnixTimestamp64Milli(at) AS timeMs, delivery, events, attempt, reason, duration_ms, url, result, message, ' +
  'state, toUnixTimestamp64Milli(next_attempt_at) AS nextAttemptMs, status, ' +
  'response_headers, response_body, request_body';

/** The names of all results of an attempt. */
export const resultNames = Object.keys(attemptResults) as (keyof typeof attemptResults)[];

/** Reads the filters of a list of attempts: result, state, delivery, event and times. */
export function readAttemptQuery(query: RawFields): Outcome<AttemptQuery> {
  const reader = new FieldReader(query);
  const limit = readLimit(reader);
  const bounds = readTimeBounds(reader, ['before', 'after']);
  const cursor = readCursor(reader);
  const filters = {
    result: reader.choice('result', resultNames),
    state: reader.choice('state', AttemptState.enum),
    delivery: reader.text('delivery'),
    event: reader.text('event'),
  };
  return reader.outcome(() => ({ limit, cursor, ...bounds, ...filters }));
}

/**
 * Builds the query: newest first, one more than the limit. Rows of one attempt are equal, so the first of each is
 * enough. Narrow columns select the rows before bodies are read, because a block of bodies has megabytes.
 */
function attemptsStatement(webhook: WebhookRecord, query: AttemptQuery): Statement {
  const { sql, parameters } = where(webhook, [
    ['webhook = {text}', webhook._id],
    ['at < {time}', query.before],
    ['at > {time}', query.after],
    ['at <= {time}', query.cursor?.timeMs],
    ['(at, id) < ({time}, {text})', query.cursor?.timeMs, query.cursor?.id],
    ['result = {text}', query.result],
    ['state = {text}', query.state],
    ['delivery = {text}', query.delivery],
    ['has(events, {text})', query.event],
  ]);
  const newestFirst = 'ORDER BY at DESC, id DESC LIMIT 1 BY id';
  const page = `SELECT at, id FROM webhook_attempts WHERE ${sql} ${newestFirst} LIMIT ${query.limit + 1}`;
  return {
    sql: `SELECT ${columns} FROM webhook_attempts WHERE ${sql} AND (at, id) IN (${page}) ${newestFirst}`,
    parameters,
  };
}

const attemptOf = ({ timeMs, response_headers: headers, response_body: body, ...row }: AttemptRow): Attempt =>
  attemptJson({
    ...row,
    at: timeMs,
    message: row.message || null,
    nextAttemptAt: row.nextAttemptMs,
    responseHeaders: headers || null,
    responseBody: Buffer.from(body),
    delivery: { id: row.delivery, events: row.events, reason: row.reason, body: Buffer.from(row.request_body) },
  });

/** Returns a page of attempts as the API answers it. */
export async function listAttempts(
  analytics: Pick<Analytics, 'query'>,
  webhook: WebhookRecord,
  query: AttemptQuery,
): Promise<Page<AttemptRow>> {
  const { sql, parameters } = attemptsStatement(webhook, query);
  const { meta, rows } = pageOf(await analytics.query<AttemptRow>(sql, parameters), query.limit);
  return { meta, name: 'attempts', items: rows, text: (row) => JSON.stringify(attemptOf(row)) };
}
