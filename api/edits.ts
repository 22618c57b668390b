/**
 * Edits of single configuration records by requests.
 *
 * An edit reads a record, changes it and writes it whole, based on the revision that it has read. When another edit was
 * first, on any node, the log refuses this one, and it reads and writes again. Input: If-Match and If-None-Match.
 * Output: ETag, the record's revision.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConfigurationChange, ConfigurationWriter, RecordRevision } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import type { ApiDependencies } from './dependencies.js';
import { createSerializer } from './serialize.js';

/** The result of an edit that is based on the current configuration. */
interface PlannedEdit<Result> extends Pick<ConfigurationChange, 'kind' | 'id' | 'record'> {
  /** Whether the edited record exists. */
  readonly isExisting: boolean;
  /**
   * Changes of other records, appended before the edit and with it. They count even if the edit is refused or a crash
   * cuts it off, so they must mean nothing without it. Default: none.
   */
  readonly prelude?: readonly ConfigurationChange[];
  readonly result: Result;
}

/** Confirms the right to edit, right before each write: it may end while the request runs. */
export interface EditAuthority {
  /** Throws if the caller may no longer edit. Without it, whoever calls may. */
  readonly confirmAuthority?: (() => void) | undefined;
}

type EditRequest = Pick<FastifyRequest, 'headers'> & EditAuthority;

/**
 * Plans the edit, writes it, and resolves to the plan's result once it is applied. Edits that share a queue run one
 * after the other on this node. `plan` reads the configuration and throws an ApiError when the edit is impossible; it
 * may be called several times. `nowMs` is a time that no other record of this node has. Throws `precondition_failed`,
 * `edit_conflict`, and `forbidden` if the caller has lost its role meanwhile.
 *
 * @param queues the queue of the record, then those of other records that must stay as `plan` finds them.
 */
export type Edit = <Result>(
  http: { readonly request: EditRequest; readonly reply: Pick<FastifyReply, 'header'> },
  queues: string | readonly [string, ...string[]],
  plan: (nowMs: number) => PlannedEdit<Result>,
) => Promise<Result>;

/** Returns the queue of the edits of a record. */
export const queueOf = (kind: ConfigurationChange['kind'], id: string): string => `${kind}/${id}`;

/** After this many attempts another node must be editing the same record continuously. */
const maxAttempts = 20;
const patientAttempts = 3;
const maxDelayMs = 20;

const etagOf = ({ revision }: RecordRevision): string => `"r${revision}"`;

/** Sends the revision of an existing record as its ETag. */
export function sendRevision(reply: Pick<FastifyReply, 'header'>, current: RecordRevision | undefined): void {
  if (current) reply.header('ETag', etagOf(current));
}

const tagsIn = (header: string): string[] => header.split(',').map((tag) => tag.trim());

/** Returns what may be wrong with the form of the ETags of If-Match, for a message. */
function hintAbout(tags: readonly string[]): string {
  if (tags.some((tag) => tag.startsWith('W/'))) return '; a weak ETag, as proxies make it, never does: leave out W/';
  return tags.every((tag) => tag === '*' || tag.endsWith('"')) ? '' : '; an ETag has quotation marks around it';
}

/**
 * Throws `precondition_failed` when If-Match names no current revision of the record, or If-None-Match does (RFC 9110,
 * 13.1).
 */
function checkPreconditions({ headers }: Pick<FastifyRequest, 'headers'>, current: RecordRevision | undefined): void {
  const { 'if-match': match, 'if-none-match': noneMatch } = headers;
  const isNamedBy = (tags: readonly string[]): boolean =>
    current !== undefined && (tags.includes('*') || tags.includes(etagOf(current)));
  const now = current ? `the record is at ${etagOf(current)}` : 'there is no such record';
  if (match !== undefined && !isNamedBy(tagsIn(match)))
    throw new ApiError('precondition_failed', `If-Match does not match: ${now}${hintAbout(tagsIn(match))}`);
  // Its comparison is weak.
  if (noneMatch !== undefined && isNamedBy(tagsIn(noneMatch).map((tag) => tag.replace(/^W\//, ''))))
    throw new ApiError('precondition_failed', `If-None-Match does not match: ${now}`);
}

/**
 * Applies every edit that was acknowledged on any node before, so that a revoked key is known. Rejects with the error
 * of `confirmAuthority`: a request is authorized by its head, and its body may have taken long. Edits that do not go
 * through {@link Edit} call it before each write.
 */
export async function catchUpWithAuthority({
  writer,
  confirmAuthority,
}: {
  readonly writer: Pick<ConfigurationWriter, 'catchUp'>;
} & EditAuthority): Promise<void> {
  await writer.catchUp();
  confirmAuthority?.();
}

/** Edits of one queue that run or wait. */
const maxUnfinishedEdits = 1_000;

/**
 * Creates the function with which routes edit configuration. Edits of one queue run one after another on this node. A
 * lost race against another node is planned again, a few times; then the edit is refused as `edit_conflict`.
 */
export function createEditor({ configuration, writer }: Pick<ApiDependencies, 'configuration' | 'writer'>): Edit {
  const serialize = createSerializer(maxUnfinishedEdits);

  function inQueues<Result>([first, ...others]: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return first === undefined ? work() : serialize(first, () => inQueues(others, work));
  }

  return ({ request, reply }, queues, plan) =>
    inQueues(typeof queues === 'string' ? [queues] : queues, async () => {
      // Applies every edit that was acknowledged on any node before this request.
      await writer.catchUp();
      for (let attempt = 1; ; attempt++) {
        request.confirmAuthority?.();
        const { kind, id, record, isExisting, prelude = [], result } = plan(writer.nextTimestamp());
        checkPreconditions(request, isExisting ? configuration.revisionOf(kind, id) : undefined);
        const change = { kind, id, record, bases: configuration.bases(kind, id) };
        const outcome = (await writer.write([...prelude, change])).at(-1);
        if (outcome?.kind === 'applied') {
          if (record !== null) sendRevision(reply, { revision: outcome.revision, deletedAtMs: null });
          return result;
        }
        if (attempt === maxAttempts)
          throw new ApiError('edit_conflict', 'other edits of this record keep coming first; try again');
        // The first conflicts are with edits that are already done. Later, random delays separate the nodes.
        if (attempt >= patientAttempts) await delay(Math.random() * maxDelayMs * (attempt - patientAttempts + 1));
      }
    });
}
