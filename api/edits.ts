/**
 * Edits of single configuration records by requests.
 *
 * An edit reads a record, changes it and writes it whole, based on the revision it has read. Where another edit came
 * first, on whatever node, it is refused by the
 * log, reads again and is tried again. Flows in: If-Match. Flows out: ETag, the record's revision.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConfigurationChange, RecordRevision } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import type { ApiDependencies } from './dependencies.js';
import { createSerializer } from './serialize.js';

/** What an edit comes to, if it is based on what the configuration says now. */
export interface PlannedEdit<Result> extends Pick<ConfigurationChange, 'kind' | 'id' | 'record'> {
  /** Is there something that is changed or deleted? */
  readonly isExisting: boolean;
  readonly result: Result;
}

/**
 * Plans the edit, writes it, and resolves with the plan's result once it is applied. Edits of one `queue` run one
 * after the other on this node.
 * `plan` reads the configuration and throws an ApiError when the edit can't be made; it may be called several times.
 * `nowMs` is a
 * time that no other record of this node has. Throws `precondition_failed` and `edit_conflict`.
 */
export type Edit = <Result>(
  http: { readonly request: Pick<FastifyRequest, 'headers'>; readonly reply: Pick<FastifyReply, 'header'> },
  queue: string,
  plan: (nowMs: number) => PlannedEdit<Result>,
) => Promise<Result>;

/** Past it another node edits the same record all the time. */
const maxAttempts = 20;
const patientAttempts = 3;
const maxDelayMs = 20;

const etagOf = ({ revision }: RecordRevision): string => `"r${revision}"`;

/** Sends the revision of a record that exists as its ETag. */
export function sendRevision(reply: Pick<FastifyReply, 'header'>, current: RecordRevision | undefined): void {
  if (current) reply.header('ETag', etagOf(current));
}

/** Throws `precondition_failed` when If-Match is given and names no revision that the record has now. */
function refuseUnmatched(request: Pick<FastifyRequest, 'headers'>, current: RecordRevision | undefined): void {
  const given = request.headers['if-match'];
  if (given === undefined) return;
  const wanted = given.split(',').map((tag) => tag.trim());
  if (current && (wanted.includes('*') || wanted.includes(etagOf(current)))) return;
  const now = current ? `the record is at ${etagOf(current)}` : 'there is no such record';
  throw new ApiError('precondition_failed', `If-Match does not match: ${now}`);
}

export function createEditor({ configuration, writer }: Pick<ApiDependencies, 'configuration' | 'writer'>): Edit {
  const serialize = createSerializer();

  return ({ request, reply }, queue, plan) =>
    serialize(queue, async () => {
      // What was acknowledged anywhere before this request is what it changes.
      await writer.catchUp();
      for (let attempt = 1; ; attempt++) {
        const { kind, id, record, isExisting, result } = plan(writer.nextTimestamp());
        refuseUnmatched(request, isExisting ? configuration.revisionOf(kind, id) : undefined);
        const [outcome] = await writer.write([{ kind, id, record, bases: configuration.bases(kind, id) }]);
        if (outcome?.kind === 'applied') {
          if (record !== null) sendRevision(reply, { revision: outcome.revision, deletedAtMs: null });
          return result;
        }
        if (attempt === maxAttempts)
          throw new ApiError('edit_conflict', 'others change this record all the time; try again');
        // At first the others are done already. Later, whoever waits for a moment of its own meets nobody.
        if (attempt >= patientAttempts) await delay(Math.random() * maxDelayMs * (attempt - patientAttempts + 1));
      }
    });
}
