/** Enables, disables or deletes many geofences or beacons at once. */
import type { FastifyInstance } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, capitalized, described, describedFields, success } from '../../http/describe.js';
import { accepted, FieldReader, type Outcome } from '../../http/fields/reader.js';
import type {
  ConfigurationChange,
  ConfigurationReader,
  ConfigurationWriter,
  Scope,
} from '../../pipeline/catalog/types.js';
import { ApiError } from '../../schemas/errors.js';
import { isId } from '../../schemas/ids.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import { Id } from '../../schemas/json/common.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { createTurns } from '../../schemas/turns.js';
import { catchUpWithAuthority, type EditAuthority } from '../edits.js';
import { withoutPassedDate } from './enabling.js';

type Listed = GeofenceRecord | BeaconRecord;

const actions = ['enable', 'disable', 'delete'] as const;
type Action = (typeof actions)[number];

const maxBulkRecords = 500;
const maxBulkAttempts = 10;
/** Records that one turn of the event loop reads and encodes. Each may have 150 kB, so few are written at once. */
const changedPerTurn = 20;
const nextTurn = createTurns();

const bulkBody = Type.Object({
  action: Type.Union(actions.map((action) => Type.Literal(action))),
  ids: Type.Array(Id, { minItems: 1, maxItems: maxBulkRecords }),
});

const bulkCounts = {
  changed: Type.Integer(),
  unchanged: Type.Integer({ description: 'Records that were in this state already' }),
  missing: Type.Integer({ description: 'Records that do not exist, or no longer do' }),
};

function readBulk(body: unknown): Outcome<{ readonly action: Action; readonly ids: readonly string[] }> {
  const reader = new FieldReader(describedFields(body, bulkBody));
  const action = reader.requiredChoice('action', actions);
  const given = reader.list('ids') ?? [];
  const ids = given.filter((id): id is string => typeof id === 'string' && isId(id));
  if (given.length === 0 || given.length > maxBulkRecords)
    reader.refuse('ids', `must have 1 to ${maxBulkRecords} items`);
  if (ids.length < given.length) reader.refuse('ids', 'must be ids of 24 hex digits');
  return reader.outcome(() => ({ action: action ?? 'enable', ids: [...new Set(ids)] }));
}

/** Returns the changed record; undefined if nothing changes. */
function changedBy<Stored extends Listed>(
  action: Action,
  record: Stored,
  writer: ConfigurationWriter,
  nowMs: number,
): Stored | null | undefined {
  if (action === 'delete') return null;
  const enabled = action === 'enable';
  const base = enabled ? withoutPassedDate(record, nowMs) : record;
  if (record.enabled === enabled && base === record) return undefined;
  return { ...base, enabled, updatedAt: writer.nextTimestamp() };
}

interface BulkParts {
  readonly configuration: Pick<ConfigurationReader, 'bases'>;
  readonly writer: ConfigurationWriter;
  readonly clock: () => number;
}

/**
 * Changes the records, each unless another edit of it keeps coming first. Rejects with the error of `confirmAuthority`.
 */
export async function changeMany<Stored extends Listed>(
  { configuration, writer, clock, confirmAuthority }: BulkParts & EditAuthority,
  kind: 'geofence' | 'beacon',
  action: Action,
  ids: readonly string[],
  find: (id: string) => Stored | undefined,
) {
  const counts = { changed: 0, unchanged: 0, missing: 0 };
  let waiting = ids;
  for (let attempt = 1; waiting.length > 0; attempt++) {
    if (attempt > maxBulkAttempts) {
      throw new ApiError('edit_conflict', 'other edits of these records keep coming first; try again');
    }
    const refused: string[] = [];
    for (let from = 0; from < waiting.length; from += changedPerTurn)
      refused.push(...(await changeSome(waiting.slice(from, from + changedPerTurn))));
    waiting = refused;
  }
  return counts;

  /** Returns ids of the records of which another edit came first. */
  async function changeSome(some: readonly string[]): Promise<string[]> {
    await nextTurn();
    await catchUpWithAuthority({ writer, confirmAuthority });
    const changes: ConfigurationChange[] = [];
    for (const id of some) {
      const current = find(id);
      const record = current && changedBy(action, current, writer, clock());
      if (current === undefined) counts.missing += 1;
      else if (record === undefined) counts.unchanged += 1;
      else changes.push({ kind, id, record, bases: configuration.bases(kind, id) });
    }
    const outcomes = changes.length === 0 ? [] : await writer.write(changes);
    counts.changed += outcomes.filter((outcome) => outcome.kind === 'applied').length;
    return changes.filter((_, index) => outcomes[index]?.kind !== 'applied').map(({ id }) => id);
  }
}

interface ChangedResource<Stored extends Listed> {
  readonly name: 'geofence' | 'beacon';
  find(scope: Scope, id: string): Stored | undefined;
  /** Throws if the project may not enable records. */
  admit?(scope: Scope): void;
}

/** Adds the route that changes many. */
export function addBulkRoute<Stored extends Listed>(
  app: FastifyInstance,
  resource: ChangedResource<Stored>,
  parts: BulkParts,
): void {
  const { name } = resource;
  const tag = `${name}s`;

  app.post(`/v1/${tag}/bulk`, {
    config: { authority: 'secret', limit: 'management' },
    schema: described({
      operationId: `change${capitalized(tag)}`,
      tag,
      summary: `Enable, disable or delete many ${tag}`,
      description: `At most ${maxBulkRecords}. Each record succeeds or fails by itself; a repetition changes nothing.`,
      body: bulkBody,
      answer: answerOf(bulkCounts),
      failures: [409],
    }),
    handler: async (request) => {
      const scope = callerOf(request);
      const { action, ids } = accepted(readBulk(request.body));
      if (action === 'enable') resource.admit?.(scope);
      const find = (id: string) => resource.find(scope, id);
      const { confirmAuthority } = request;
      return { meta: success, ...(await changeMany({ ...parts, confirmAuthority }, name, action, ids, find)) };
    },
  });
}
