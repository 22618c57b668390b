/**
 * Applies one batch of locations: decodes, loads states, evaluates, commits, replies. Events and outcomes are published
 * by the same commit. Unless the batch is committed, nothing has happened.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { ObserveCache } from '../../cache-use.js';
import type { Catalog } from '../../catalog/types.js';
import type { CommitResult, LogRecord, StateStore } from '../../ports.js';
import { positionAfter } from '../../positions.js';
import { type Tracing, within } from '../../tracing.js';
import type { Metrics } from '../metrics.js';
import type { PartitionAlerts } from '../partition-alerts.js';
import { observeBatch } from './batch-metrics.js';
import { type BatchTrace, traceBatch } from './batch-trace.js';
import { type DecodedBatch, decodeBatch } from './decode.js';
import { createDefinitions } from './definitions.js';
import { type Device, DeviceStates, type PartitionOwner } from './device-states.js';
import { createBatchEvaluator, type Effects } from './evaluate-batch.js';
import type { ReplySender } from './reply-sender.js';

interface ApplyBatchParts {
  readonly codecs: Codecs;
  readonly states: StateStore;
  readonly maxCachedDevices: number;
  readonly maxCommitBytes: number;
  readonly maxEvaluationMs: number;
  readonly observeCache: ObserveCache;
  readonly tracing?: Tracing | undefined;
  readonly catalog: Catalog;
  readonly catchUp?: (() => Promise<void>) | undefined;
  readonly sender: Pick<ReplySender, 'send'>;
  readonly alerts: PartitionAlerts;
  readonly metrics: Metrics;
  /** Epoch ms. */
  readonly clock: () => number;
}

/**
 * Applies the batch, or the first part of it that fits into one commit. `fenced`: another owner has claimed the
 * partition. `halted`: the batch has too many dead letters.
 */
type ApplyBatch = (owner: PartitionOwner, records: readonly LogRecord[]) => Promise<CommitResult | 'halted'>;

/**
 * Creates the function that applies batches, with the caches of states and event definitions that all batches of a
 * process share.
 */
export function createApplyBatch(parts: ApplyBatchParts): ApplyBatch {
  const { codecs, states, catalog, sender, alerts, metrics, clock } = parts;
  const deviceStates = new DeviceStates(states, parts.maxCachedDevices);
  const definitions = createDefinitions(catalog.configuration);
  parts.observeCache('device_states', () => deviceStates.use);
  parts.observeCache('event_definitions', () => definitions.use);
  const evaluate = createBatchEvaluator({ ...parts, definitions });

  return async function applyBatch(owner, records) {
    const trace = traceBatch(parts.tracing, records);
    const result = await apply(owner, records, trace);
    trace?.end(result);
    return result;
  };

  async function apply(
    owner: PartitionOwner,
    given: readonly LogRecord[],
    trace: BatchTrace | undefined,
  ): ReturnType<ApplyBatch> {
    const startedAtMs = clock();
    const batch = decodeBatch(codecs.location, given);
    const devices = await loadStates(owner, batch);
    const effects = evaluate(batch, devices, trace);
    const records = given.slice(0, effects.evaluated);
    const tooMany = owner.breaker.pass(records, effects.deadLetters);
    if (tooMany !== undefined) {
      alerts.halted(owner.claim.partition, tooMany);
      return 'halted';
    }
    const result = await commitAndPublish(owner, records, effects, trace);
    if (result === 'fenced') return result;
    observeBatch(metrics, records, effects, { startedAtMs, endedAtMs: clock() });
    alerts.deadLettered(effects.deadLetters);
    sender.send(effects.awaited);
    return result;
  }

  /**
   * Loads the states of the batch's devices and updates the catalog. This runs after the batch was fetched, so that a
   * location appended after a change of configuration is evaluated with it.
   */
  async function loadStates(owner: PartitionOwner, batch: DecodedBatch): Promise<ReadonlyMap<string, Device>> {
    const [devices] = await Promise.all([deviceStates.load(owner, batch.deviceKeys), parts.catchUp?.()]);
    catalog.refresh();
    definitions.refresh();
    return devices;
  }

  /** Writes states and position together with what to publish, or nothing. */
  async function commitAndPublish(
    owner: PartitionOwner,
    records: readonly LogRecord[],
    effects: Effects,
    trace: BatchTrace | undefined,
  ): Promise<CommitResult> {
    const position = positionAfter(records.at(-1)!);
    const span = trace && parts.tracing?.start('commit batch', { kind: 'client', parent: trace.traceparent });
    return within(span, () => owner.commit(states, position, effects));
  }
}
