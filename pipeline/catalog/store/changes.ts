/** Follows topic `changes` into the read model. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Compile } from 'typebox/compile';
import { codecs } from '../../../schemas/codecs.js';
import { isId } from '../../../schemas/ids.js';
import { AccountRecord } from '../../../schemas/json/account.js';
import { BeaconRecord } from '../../../schemas/json/beacon.js';
import { ErasureRecord } from '../../../schemas/json/erasure.js';
import { GeofenceRecord } from '../../../schemas/json/geofence.js';
import { ImportPartRecord, ImportRecord } from '../../../schemas/json/import.js';
import { MapMarkerRecord, MapStyleRecord } from '../../../schemas/json/map.js';
import { PlaceRecord } from '../../../schemas/json/place.js';
import { ProjectRecord } from '../../../schemas/json/project.js';
import { SyncRecord } from '../../../schemas/json/sync.js';
import { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { ChangeKind } from '../../../schemas/records.js';
import { createFailure } from '../../failure.js';
import { type Divergence, type Log, type LogRecord, type Subscription, topics } from '../../ports.js';
import { type DivergenceOptions, findDivergence, markOf } from '../../positions.js';
import type { ChangeOrigin, DecodedChange, PreparedFence } from '../types.js';
import { changeKey, changesPartition, idOfKey } from './append-change.js';
import type { ReadModel } from './read-model.js';
import { createRulesCompiler } from './tables/fence-rules.js';
import { originOf } from './tables/revisions.js';
import { rulesText } from './tables/stored-fence.js';

const validators = {
  project: Compile(ProjectRecord),
  geofence: Compile(GeofenceRecord),
  beacon: Compile(BeaconRecord),
  webhook: Compile(WebhookRecord),
  'map-style': Compile(MapStyleRecord),
  'map-marker': Compile(MapMarkerRecord),
  import: Compile(ImportRecord),
  'import-part': Compile(ImportPartRecord),
  place: Compile(PlaceRecord),
  sync: Compile(SyncRecord),
  account: Compile(AccountRecord),
  erasure: Compile(ErasureRecord),
};

/** An invalid record of topic `changes`, which was skipped. */
export interface ChangeProblem {
  readonly offset: number;
  readonly key: string;
  readonly reason: string;
}

/**
 * Creates a function that decodes and validates a record of topic `changes`. It throws if the record is not a change,
 * violates its schema or has rules that do not compile. Decoded changes can be applied and loaded.
 */
export function createChangeDecoder(): (record: Pick<LogRecord, 'key' | 'value'>) => DecodedChange {
  const compileRules = createRulesCompiler();
  return (record) => {
    const { kind, id } = parseKey(record.key);
    if (record.value === null) return { kind, id, record: null };
    const change = codecs.change.decode(record.value);
    if (change.kind !== kind || change.id !== id) throw new Error('key and value have different ids');
    const value = validRecord(kind, JSON.parse(change.record));
    if (value._id !== id) throw new Error('key and record have different ids');
    if (kind === 'geofence') compileRules(rulesText(value as GeofenceRecord));
    return { kind, id, record: value, text: change.record };
  };
}

function parseKey(key: string): { kind: ChangeKind; id: string } {
  const [kind = '', id = '', ...rest] = key.split('/');
  if (!Object.hasOwn(validators, kind) || !isId(id) || rest.length > 0) throw new Error('the key is not kind/id');
  return { kind: kind as ChangeKind, id };
}

function validRecord(kind: ChangeKind, value: unknown): NonNullable<DecodedChange['record']> {
  const validator = validators[kind];
  if (validator.Check(value)) return value as NonNullable<DecodedChange['record']>;
  const [problem] = validator.Errors(value);
  throw new Error(`the record violates its schema: ${problem?.instancePath} ${problem?.message}`);
}

/** A write of an import, with its record, is one batch. */
const maxBatchRecords = 2_000;
/**
 * Records that are applied at once while requests are served. An import's rows take 15 µs each, other records up to
 * 45 µs, and requests wait meanwhile. Larger batches need fewer syncs of the disk.
 */
const maxRecordsWhileServing = 200;
/**
 * Bytes of records that are decoded and applied at once meanwhile, unless one has more. A polygon of 2,000 points takes
 * milliseconds.
 */
const maxBytesWhileServing = 524_288;

const rebuildReason = ({ position, first, end }: Divergence): string =>
  `topic ${topics.changes} is not the log that was applied up to offset ${position.offset}: ` +
  `it now holds ${first} to ${end}; the read model is rebuilt`;

interface FollowedChanges {
  readonly log: Log;
  readonly readModel: ReadModel;
  readonly onProblem: (problem: ChangeProblem) => void;
  /** Whether this thread serves requests at present. Changes are then applied in short turns. Default: never. */
  readonly isServing?: () => boolean;
}

/**
 * Rebuilds the read model from another topic than the one that was applied. Keeps records that the topic has; all of
 * them are applied again, because a refused edit may follow the valid one. Returns the offset to continue from.
 */
async function rebuild({ log, readModel, onProblem }: FollowedChanges, divergence: Divergence): Promise<number> {
  onProblem({ offset: divergence.position.offset, key: '', reason: rebuildReason(divergence) });
  const { first, end } = await log.bounds(topics.changes, changesPartition);
  const keys = new Set<string>();
  for (let offset = first; offset < end; ) {
    const { records, nextOffset } = await log.read(topics.changes, changesPartition, offset, maxBatchRecords);
    if (nextOffset === offset) break;
    for (const { key } of records) keys.add(key);
    offset = nextOffset;
  }
  await readModel.restart((kind, id) => keys.has(changeKey(kind, id)));
  return first;
}

/** A change of this process, which its thread has checked. It is decoded only if the prepared form no longer holds. */
class PreparedChange implements DecodedChange {
  readonly kind = 'geofence';
  readonly id: string;
  #whole: DecodedChange | undefined;

  constructor(
    private readonly appended: LogRecord,
    readonly origin: ChangeOrigin,
    readonly prepared: PreparedFence,
    private readonly decode: (record: LogRecord) => DecodedChange,
  ) {
    this.id = idOfKey(appended.key);
  }

  get record(): DecodedChange['record'] {
    return this.#decoded.record;
  }

  get text(): string | undefined {
    return this.#decoded.text;
  }

  get #decoded(): DecodedChange {
    this.#whole ??= this.decode(this.appended);
    return this.#whole;
  }
}

/**
 * Follows topic `changes` from the position of the read model. Reports and skips invalid records. If the topic is not
 * the one that the read model was made from, reports that and rebuilds the read model.
 */
export function followChanges(parts: FollowedChanges): Subscription {
  const { log, readModel, onProblem, isServing = () => false } = parts;
  const decodeChange = createChangeDecoder();

  const preparedOf = ({ edit }: ChangeOrigin): PreparedFence | undefined =>
    edit === null ? undefined : readModel.edits.preparedOf(edit);

  /** Returns the records that are applied at once while requests are served. Those that are prepared cost little. */
  function shortPart(records: readonly LogRecord[], from: number): readonly LogRecord[] {
    let bytes = 0;
    const isFull = (record: LogRecord, index: number): boolean => {
      if (preparedOf(originOf(record)) === undefined) bytes += record.value?.length ?? 0;
      return index > 0 && bytes > maxBytesWhileServing;
    };
    const part = records.slice(from, from + maxRecordsWhileServing);
    const end = part.findIndex(isFull);
    return end < 0 ? part : part.slice(0, end);
  }

  function decoded(record: LogRecord): DecodedChange[] {
    const origin = originOf(record);
    const prepared = preparedOf(origin);
    if (prepared !== undefined) return [new PreparedChange(record, origin, prepared, decodeChange)];
    try {
      return [{ ...decodeChange(record), origin }];
    } catch (error) {
      onProblem({ offset: record.offset, key: record.key, reason: (error as Error).message });
      if (origin.edit !== null) readModel.edits.fail(origin.edit, error as Error);
      return [];
    }
  }

  /** The newest batch. Its commit waits for the disk, and the batch after it is applied meanwhile. */
  let newest: Promise<void> = Promise.resolve();
  let failure: { readonly error: unknown } | undefined;
  const { failed, fail } = createFailure();

  /** Applies a batch. Resolves when another one may follow. */
  async function apply(...batch: Parameters<ReadModel['apply']>): Promise<void> {
    if (failure !== undefined) throw failure.error;
    const before = newest;
    newest = readModel.apply(...batch);
    newest.catch((error: unknown) => {
      failure = { error };
      fail(error);
    });
    await before;
  }

  const subscription = log.consume({
    topic: topics.changes,
    group: null,
    maxBatchRecords,
    maxWaitMs: 0,
    handler: {
      assigned: async () => readModel.position,
      async diverged(_, divergence) {
        await newest;
        return rebuild(parts, divergence);
      },
      async records(_, records) {
        for (let from = 0; from < records.length; ) {
          const part = isServing() ? shortPart(records, from) : records.slice(from);
          from += part.length;
          const last = part.at(-1) as LogRecord;
          await apply(part.flatMap(decoded), last.offset + 1, markOf(last));
          await nextTurn();
        }
      },
      revoked: () => newest,
      async passed(_, nextOffset) {
        await newest;
        // The mark of an earlier record stays valid. Without a mark, a restored older topic would not be noticed.
        await apply([], nextOffset, readModel.position.mark);
      },
    },
  });
  return { done: Promise.race([subscription.done, failed]), close: () => subscription.close() };
}

/**
 * Compares the read model with the topic, then follows it as {@link followChanges} does. Only then is
 * `readModel.waitFor` reliable: a read model ahead of a restored topic has passed all its offsets, but shows records
 * that the topic does not have.
 */
export async function followComparedChanges(
  parts: FollowedChanges,
  options?: DivergenceOptions,
): Promise<Subscription> {
  const { log, readModel } = parts;
  const divergence = await findDivergence(log, topics.changes, changesPartition, readModel.position, options);
  if (divergence !== undefined) await rebuild(parts, divergence);
  return followChanges(parts);
}
