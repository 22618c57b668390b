/**
 * Erases users, events and deleted projects from everything that answers queries: device states, the tables of
 * analytics, and pending deliveries; of a project also its configuration. Topics forget by retention.
 *
 * Input: erasures of the read model. Output: commands on topic `locations`, which the location stage applies in the
 * order of a device's locations; deleted rows; removed deliveries; and the completion of each erasure. Every step can
 * be repeated, so a crash or a second node does no harm. May import: schemas, the pipeline's other modules, ports.
 *
 * A first pass runs at once. The last one runs when nothing that was received before the erasure can still be on its
 * way: `graceMs` later, when the stages have passed the ends of their topics. Until the topics have forgotten, passes
 * are repeated, because a stage that reads a topic again writes rows again.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { codecs } from '../../../schemas/codecs.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { ReadModel } from '../../catalog/store/read-model.js';
import { createSweeper, type Sweeper } from '../../catalog/store/sweepers.js';
import type { ConfigurationWriter, Scope } from '../../catalog/types.js';
import type { SecretCipher } from '../../encryption.js';
import type { Analytics, DeliveryQueue, Leases, Log, Positions, StateStore, Topic } from '../../ports.js';
import { topics } from '../../ports.js';
import { deviceKey } from '../../records/device-key.js';
import { decodeDeviceState } from '../../records/device-state.js';
import { type ErasureCommand, erasedUsers, erasureCommand } from '../../records/erasure-command.js';
import { analyticsSinkGroup } from '../analytics/sink.js';
import { type Erased, erasePending } from './pending.js';
import * as statements from './statements.js';

export interface EraserParts {
  readonly readModel: Pick<ReadModel, 'allErasures' | 'bases' | 'project' | 'recordsOf'>;
  readonly writer: Pick<ConfigurationWriter, 'write' | 'catchUp'>;
  readonly leases: Leases;
  readonly log: Pick<Log, 'append' | 'partitions' | 'partitionOf' | 'end' | 'read'>;
  readonly states: Pick<StateStore, 'load' | 'position'>;
  readonly positions: Pick<Positions, 'get'>;
  readonly deliveries: Pick<DeliveryQueue, 'waiting' | 'webhooks' | 'position' | 'erase'>;
  readonly analytics: Pick<Analytics, 'query' | 'command'>;
  /** As of the tables' migration. */
  readonly cluster?: string | undefined;
  readonly secretCipher: SecretCipher;
  /** Longest retention of a topic from which rows are written. The name of the user is kept for the same time. */
  readonly keepMs: number;
  readonly clock: () => number;
  /** Called when a pass failed. It is repeated. The message names no user. */
  readonly onProblem: (error: unknown) => void;
  readonly timing?: Partial<EraserTiming>;
}

export interface EraserTiming {
  /** How often new erasures are looked for. */
  readonly intervalMs: number;
  /** Longer than an accepted location takes to reach its topic, and than nodes' clocks differ. */
  readonly graceMs: number;
  /** How often the rows of completed erasures are looked for again. */
  readonly recheckMs: number;
  /** How long the last pass waits for the stages before it is put off. */
  readonly patienceMs: number;
}

export const defaultEraserTiming: EraserTiming = {
  intervalMs: 1_000,
  graceMs: 15_000,
  recheckMs: 60 * 60 * 1_000,
  patienceMs: 10_000,
};

/** Of one project and environment, erased by the same statements. */
const maxErasuresPerPass = 50;
/** Records of a deleted project in one write, and writes of one pass: other erasures have their turn in between. */
const maxDeletedAtOnce = 1_000;
const maxWritesPerPass = 50;
/** Devices of a deleted project that are commanded at once. */
const maxDevicesAtOnce = 5_000;
const pollMs = 100;
/** Forgotten plans of erasures that are gone. */
const maxStalePlans = 1_000;

interface Batch extends Scope {
  readonly records: readonly ErasureRecord[];
}

interface FoundUser {
  readonly user: string;
  readonly user_id: string;
  readonly device_id: string;
}

/** Creates the eraser. It does nothing before `start`, and never rejects. */
export function createEraser(parts: EraserParts): Sweeper {
  const { readModel, writer, log, states, positions, deliveries, analytics, secretCipher, clock, onProblem } = parts;
  const timing = { ...defaultEraserTiming, ...parts.timing };
  /** When the next pass of an erasure is due, epoch ms. */
  const plans = new Map<string, number>();
  let isStopping = false;

  const dueAtOf = ({ _id }: ErasureRecord): number => plans.get(_id) ?? 0;
  const plan = (record: ErasureRecord, dueAtMs: number): void => void plans.set(record._id, dueAtMs);
  const isForgotten = ({ createdAt }: ErasureRecord): boolean => clock() > createdAt + parts.keepMs;
  const isWhole = ({ subject }: ErasureRecord): boolean => subject === 'project';
  /** The erasure of a project is written with its deletion, which may have been refused. */
  const isWithdrawn = (record: ErasureRecord): boolean =>
    isWhole(record) && readModel.project(record.project) !== undefined;

  function due(): ErasureRecord[] {
    const all = readModel.allErasures();
    if (plans.size > all.length + maxStalePlans) plans.clear();
    return all.filter((record) => dueAtOf(record) <= clock() && !isWithdrawn(record));
  }

  /** Groups by scope what the same statements can erase. */
  function nextBatch(): Batch | undefined {
    const all = due();
    const [first] = all;
    if (first === undefined) return undefined;
    const { project, environment } = first;
    const ofScope = all.filter((each) => each.project === project && each.environment === environment);
    const whole = ofScope.filter(isWhole);
    return { project, environment, records: (whole.length > 0 ? whole : ofScope).slice(0, maxErasuresPerPass) };
  }

  async function sweep(): Promise<void> {
    const batch = nextBatch();
    if (batch === undefined) return;
    try {
      await erase(batch);
    } catch (error) {
      onProblem(error);
      for (const record of batch.records) plan(record, clock() + timing.patienceMs);
    }
  }

  async function erase(batch: Batch): Promise<void> {
    const old = batch.records.filter(isForgotten);
    if (old.length > 0) return write(old.map(({ _id }) => ({ id: _id, record: null })));
    const isLast = (record: ErasureRecord): boolean =>
      record.completedAt === null && clock() >= record.createdAt + timing.graceMs;
    const last = batch.records.filter(isLast);
    // The others get their first pass, or one that looks for rows that were written again.
    const [record] = batch.records;
    const isComplete =
      record !== undefined && isWhole(record) ? await passWhole(record, last.length > 0) : await pass(batch, last);
    if (last.length > 0 && isComplete) {
      const completedAt = clock();
      await write(
        last.map((record) => ({ id: record._id, record: { ...record, completedAt, updatedAt: completedAt } })),
      );
    }
    for (const record of batch.records) plan(record, nextPassAt(record, isComplete && last.includes(record)));
  }

  function nextPassAt(record: ErasureRecord, isCompleted: boolean): number {
    if (isCompleted || record.completedAt !== null) return clock() + timing.recheckMs;
    return Math.max(record.createdAt + timing.graceMs, clock() + timing.intervalMs);
  }

  async function write(changes: { readonly id: string; readonly record: ErasureRecord | null }[]): Promise<void> {
    await writer.catchUp();
    await writer.write(
      changes.map((change) => ({ ...change, kind: 'erasure', bases: readModel.bases('erasure', change.id) })),
    );
  }

  /**
   * Runs all steps once. Returns whether nothing is pending any more; without `last`, the erasures whose last pass it
   * is, always true.
   */
  async function pass(batch: Batch, last: readonly ErasureRecord[]): Promise<boolean> {
    const waits = last.length > 0;
    if (waits && !(await isEverythingStored())) return false;
    const users = targetsOf(batch.records, 'user');
    // Devices are found by their rows. A row of another erasure that comes after the query must stay for its last pass:
    // without it the state of its device would never be found.
    const complete = targetsOf(
      batch.records.filter((record) => record.completedAt !== null || last.includes(record)),
      'user',
    );
    const events = targetsOf(batch.records, 'event').map(({ name }) => name);
    const found = await findUsers(batch, users);
    const ids = new Set(found.map(({ user }) => user));
    const names = new Map(users.map(({ name, receivedBy }) => [name, receivedBy]));
    const erased: Erased = { ...batch, users: ids, names, events: new Set(events) };

    // The topic has the commands of a completed erasure, and a stage that reads it again applies them again.
    const running = users.filter(({ completedAt }) => completedAt === null);
    const commanded = await eraseStates(batch, running, found, ids);
    if (waits && !(await reached(commanded, stagePosition))) return false;
    if (waits && !(await areEventsQueued())) return false;
    ids.delete('');
    await erasePending(log, deliveries, erased);
    if (waits && !(await isSinkAtEnd())) return false;
    for (const { user } of await findUsers(batch, complete)) ids.add(user);
    ids.delete('');
    await eraseRows(batch, complete, [...ids], events);
    return true;
  }

  /** Erases an environment of a deleted project. Returns whether all of it is gone and nothing is on its way. */
  async function passWhole(record: ErasureRecord, waits: boolean): Promise<boolean> {
    // Before the rows: webhooks end with their records, and imports write no more.
    if (!(await deleteRecords(record))) return false;
    if (waits && !(await isEverythingStored())) return false;
    const commanded = await eraseDevices(record);
    if (waits && !(await reached(commanded, stagePosition))) return false;
    // Devices are found by their rows in users: as in `pass`.
    const isKnown = waits || record.completedAt !== null;
    const tables = statements.allTables.filter((table) => isKnown || table !== 'users');
    await deleteFound(tables.map((table) => [table, statements.inScope(record)]));
    return true;
  }

  /** Deletes the configuration of an environment. Returns whether nothing is left of it. */
  async function deleteRecords(whole: ErasureRecord): Promise<boolean> {
    const isOther = ({ project, environment, subject }: ErasureRecord): boolean =>
      project === whole.project && environment === whole.environment && subject !== 'project';
    for (let writes = 0; ; writes++) {
      await writer.catchUp();
      const records = [
        ...readModel.recordsOf(whole, maxDeletedAtOnce),
        ...readModel.allErasures().flatMap((each) => (isOther(each) ? { kind: 'erasure' as const, id: each._id } : [])),
      ];
      if (records.length === 0) return true;
      if (writes === maxWritesPerPass || isStopping) return false;
      await writer.write(
        records
          .slice(0, maxDeletedAtOnce)
          .map(({ kind, id }) => ({ kind, id, record: null, bases: readModel.bases(kind, id) })),
      );
    }
  }

  /** Commands the location stage to forget every known device of an environment. Returns the ends of partitions. */
  async function eraseDevices({ _id, project, environment }: ErasureRecord): Promise<Map<number, number>> {
    const createdBy = clock();
    const ends = new Map<number, number>();
    for (let after = ''; ; ) {
      const query = statements.devicesQuery({ project, environment }, after, maxDevicesAtOnce);
      const devices = (await analytics.query<{ device_id: string }>(query)).map(({ device_id }) => device_id);
      const last = devices.at(-1);
      if (last === undefined) break;
      after = last;
      const commands = devices.map((deviceId) => ({
        key: deviceKey({ project, environment, deviceId }),
        value: codecs.location.encode(
          erasureCommand({ project, environment, deviceId, erasure: _id, name: deviceId, createdBy }),
        ),
      }));
      for (const { key } of commands) ends.set(log.partitionOf(topics.locations, key), 0);
      await log.append(topics.locations, commands);
    }
    for (const partition of ends.keys()) ends.set(partition, await log.end(topics.locations, partition));
    return ends;
  }

  const stagePosition = async (partition: number): Promise<number> => (await states.position(partition)).offset;

  const targetsOf = (records: readonly ErasureRecord[], subject: ErasureRecord['subject']) =>
    records
      .filter((record) => record.subject === subject)
      .map((record) => ({
        ...record,
        name: secretCipher.decrypt(record.target, record._id),
        receivedBy: record.createdAt,
      }));

  const findUsers = async (scope: Scope, users: readonly statements.Target[]): Promise<FoundUser[]> =>
    users.length === 0 ? [] : analytics.query<FoundUser>(statements.usersQuery(scope, users));

  /**
   * Commands the location stage to forget the users, on every device that is known to have one. Adds the `_id`s in
   * their states. Returns the ends of the commanded partitions.
   */
  async function eraseStates(
    { project, environment }: Scope,
    users: readonly (statements.Target & { readonly _id: string })[],
    found: readonly FoundUser[],
    ids: Set<string>,
  ): Promise<Map<number, number>> {
    const commands = users.flatMap(({ _id, name, receivedBy }): ErasureCommand[] => {
      const of = found.filter((each) => [each.user, each.user_id, each.device_id].includes(name));
      const devices = new Set([name, ...of.map(({ device_id }) => device_id)].filter((device) => device !== ''));
      return [...devices].map((deviceId) => ({
        ...{ project, environment, deviceId, erasure: _id, name },
        createdBy: receivedBy,
      }));
    });
    const ends = new Map<number, number>();
    const needed: { readonly key: string; readonly value: Buffer }[] = [];
    for (const command of commands) {
      const location = erasureCommand(command);
      const key = deviceKey(command);
      const partition = log.partitionOf(topics.locations, key);
      const [stored] = await states.load(partition, [key]);
      for (const { id } of erasedUsers(location, stored && decodeDeviceState(stored))) ids.add(id);
      // Locations that are not evaluated yet may still create a state.
      needed.push({ key, value: codecs.location.encode(location) });
      ends.set(partition, 0);
    }
    if (needed.length > 0) await log.append(topics.locations, needed);
    for (const partition of ends.keys()) ends.set(partition, await log.end(topics.locations, partition));
    return ends;
  }

  async function reached(
    ends: ReadonlyMap<number, number>,
    offsetOf: (partition: number) => Promise<number>,
  ): Promise<boolean> {
    return eventually(async () => {
      for (const [partition, end] of ends) if ((await offsetOf(partition)) < end) return false;
      return true;
    });
  }

  /** Waits for a condition; false if it does not come true in time. */
  async function eventually(condition: () => Promise<boolean>): Promise<boolean> {
    const endMs = performance.now() + timing.patienceMs;
    while (!(await condition())) {
      if (isStopping || performance.now() > endMs) return false;
      await delay(pollMs);
    }
    return true;
  }

  async function endsOf(topic: Topic): Promise<Map<number, number>> {
    const ends = new Map<number, number>();
    for (let partition = 0; partition < log.partitions(topic); partition++)
      ends.set(partition, await log.end(topic, partition));
    return ends;
  }

  /** Waits until every location so far is evaluated, and its rows are stored. */
  const isEverythingStored = async (): Promise<boolean> =>
    (await reached(await endsOf(topics.locations), stagePosition)) && (await isSinkAtEnd());

  /** Waits until every row of the topics so far is stored. */
  async function isSinkAtEnd(): Promise<boolean> {
    for (const topic of [topics.outcomes, topics.events, topics.attempts]) {
      const offsetOf = async (partition: number) => (await positions.get(analyticsSinkGroup, topic, partition)).offset;
      if (!(await reached(await endsOf(topic), offsetOf))) return false;
    }
    return true;
  }

  /** Waits until deliveries are made of every event so far. */
  async function areEventsQueued(): Promise<boolean> {
    for (const topic of [topics.events, topics.deliveries] as const) {
      const offsetOf = async (partition: number) => (await deliveries.position({ topic, partition })).offset;
      if (!(await reached(await endsOf(topic), offsetOf))) return false;
    }
    return true;
  }

  async function eraseRows(
    scope: Scope,
    users: readonly statements.Target[],
    ids: readonly string[],
    events: readonly string[],
  ): Promise<void> {
    const rows: [table: string, condition: string][] = [];
    if (users.length + ids.length > 0) {
      for (const table of statements.userTables) rows.push([table, statements.userRows(scope, table, users, ids)]);
      rows.push(['webhook_attempts', statements.attemptRows(scope, users, ids)]);
    }
    if (events.length > 0) {
      rows.push(['events', statements.eventRows(scope, events)]);
      rows.push(['webhook_attempts', statements.attemptRowsOfEvents(scope, events)]);
    }
    await deleteFound(rows);
  }

  async function deleteFound(rows: readonly (readonly [table: string, condition: string])[]): Promise<void> {
    for (const [table, condition] of rows) {
      const [found] = await analytics.query<{ n: number }>(`SELECT count() AS n FROM ${table} WHERE ${condition}`);
      if (found && found.n > 0) await analytics.command(statements.deleteRows(table, condition, parts.cluster));
    }
  }

  const sweeper = createSweeper({
    name: 'erasure',
    leases: parts.leases,
    intervalMs: timing.intervalMs,
    isDue: () => due().length > 0,
    sweep,
  });
  return {
    ...sweeper,
    stop() {
      isStopping = true;
      return sweeper.stop();
    },
  };
}
