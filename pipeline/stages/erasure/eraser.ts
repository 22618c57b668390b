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
 *
 * The first pass commands every device that it finds, because locations that are not evaluated yet may create a state.
 * Later passes run when all of these are evaluated, so the states tell which devices still need a command. A first pass
 * that failed is therefore not repeated: the last one does the same, and appends only what is missing.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { codecs } from '../../../schemas/codecs.js';
import type { ErasureRecord } from '../../../schemas/json/erasure.js';
import type { Location } from '../../../schemas/records.js';
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
  /** Delay after the first failure of a pass. It doubles with each further one, up to `maxRetryMs`. */
  readonly retryMs: number;
  readonly maxRetryMs: number;
}

export const defaultEraserTiming: EraserTiming = {
  intervalMs: 1_000,
  graceMs: 15_000,
  recheckMs: 60 * 60 * 1_000,
  patienceMs: 10_000,
  retryMs: 10_000,
  maxRetryMs: 5 * 60 * 1_000,
};

/** Of one project and environment, erased by the same statements. */
const maxErasuresPerPass = 50;
/** Records of a deleted project in one write, and writes of one pass: other erasures have their turn in between. */
const maxDeletedAtOnce = 1_000;
const maxWritesPerPass = 50;
/** Devices that are read from ClickHouse and commanded at once. */
const maxDevicesAtOnce = 5_000;
const pollMs = 100;
/** Forgotten plans of erasures that are gone. */
const maxStalePlans = 1_000;

interface Batch extends Scope {
  readonly records: readonly ErasureRecord[];
}

interface UserTarget extends statements.Target {
  /** Id of the erasure. */
  readonly _id: string;
}

/** Creates the eraser. It does nothing before `start`, and never rejects. */
export function createEraser(parts: EraserParts): Sweeper {
  const { readModel, writer, log, states, positions, deliveries, analytics, secretCipher, clock, onProblem } = parts;
  const timing = { ...defaultEraserTiming, ...parts.timing };
  /** When the next pass of an erasure is due, epoch ms. */
  const plans = new Map<string, number>();
  /** How often in a row the passes of an erasure failed. */
  const failures = new Map<string, number>();
  let isStopping = false;

  const dueAtOf = ({ _id }: ErasureRecord): number => plans.get(_id) ?? 0;
  const plan = (record: ErasureRecord, dueAtMs: number): void => void plans.set(record._id, dueAtMs);
  /** An erasure that never completed is kept, or its user would stay without anybody knowing. */
  const isForgotten = ({ createdAt, completedAt }: ErasureRecord): boolean =>
    completedAt !== null && clock() > createdAt + parts.keepMs;
  const isWhole = ({ subject }: ErasureRecord): boolean => subject === 'project';
  /** The erasure of a project is written with its deletion, which may have been refused. */
  const isWithdrawn = (record: ErasureRecord): boolean =>
    isWhole(record) && readModel.project(record.project) !== undefined;

  function due(): ErasureRecord[] {
    const all = readModel.allErasures();
    if (plans.size > all.length + maxStalePlans) {
      plans.clear();
      failures.clear();
    }
    return all.filter((record) => dueAtOf(record) <= clock() && !isWithdrawn(record));
  }

  /** Groups by scope what the same statements can erase. What failed is alone, so that it does not fail others. */
  function nextBatch(): Batch | undefined {
    const all = due();
    const [first] = all;
    if (first === undefined) return undefined;
    const { project, environment } = first;
    if (failures.has(first._id)) return { project, environment, records: [first] };
    const ofScope = all.filter(
      (each) => each.project === project && each.environment === environment && !failures.has(each._id),
    );
    const whole = ofScope.filter(isWhole);
    return { project, environment, records: (whole.length > 0 ? whole : ofScope).slice(0, maxErasuresPerPass) };
  }

  async function sweep(): Promise<void> {
    const batch = nextBatch();
    if (batch === undefined) return;
    try {
      await erase(batch);
      for (const { _id } of batch.records) failures.delete(_id);
    } catch (error) {
      onProblem(error);
      for (const record of batch.records) planRetry(record);
    }
  }

  function planRetry(record: ErasureRecord): void {
    const count = (failures.get(record._id) ?? 0) + 1;
    failures.set(record._id, count);
    const retryAtMs = clock() + Math.min(timing.retryMs * 2 ** (count - 1), timing.maxRetryMs);
    plan(record, Math.max(retryAtMs, record.createdAt + timing.graceMs));
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
    const ids = new Set<string>();
    const names = new Map(users.map(({ name, receivedBy }) => [name, receivedBy]));

    // The topic has the commands of a completed erasure, and a stage that reads it again applies them again.
    const running = users.filter(({ completedAt }) => completedAt === null);
    const commander = createCommander((erasure) => last.some(({ _id }) => _id === erasure));
    for (const id of await commander.append(running.map((user) => commandOf(batch, user, user.name)))) ids.add(id);
    for await (const found of findUsers(batch, users)) {
      for (const { user } of found) ids.add(user);
      for (const id of await commander.append(commandsOf(batch, running, found))) ids.add(id);
    }
    if (waits && !(await reached(await commander.ends(), stagePosition))) return false;
    if (waits && !(await areEventsQueued())) return false;
    ids.delete('');
    const erased: Erased = { ...batch, users: ids, names, events: new Set(events) };
    await erasePending(log, deliveries, erased);
    if (waits && !(await isSinkAtEnd())) return false;
    for await (const found of findUsers(batch, complete)) for (const { user } of found) ids.add(user);
    ids.delete('');
    return eraseRows(batch, complete, [...ids], events);
  }

  /** Erases an environment of a deleted project. Returns whether all of it is gone and nothing is on its way. */
  async function passWhole(record: ErasureRecord, waits: boolean): Promise<boolean> {
    // Before the rows: webhooks end with their records, and imports write no more.
    if (!(await deleteRecords(record))) return false;
    if (waits && !(await isEverythingStored())) return false;
    const isKnown = waits || record.completedAt !== null;
    const commanded = await eraseDevices(record, isKnown);
    if (waits && !(await reached(commanded, stagePosition))) return false;
    // Devices are found by their rows in users: as in `pass`.
    const tables = statements.allTables.filter((table) => isKnown || table !== 'users');
    return deleteFound(tables.map((table) => [table, statements.inScope(record)]));
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
  async function eraseDevices(whole: ErasureRecord, isEvaluated: boolean): Promise<Map<number, number>> {
    const receivedBy = clock();
    const commander = createCommander(() => isEvaluated);
    for (let after: string | undefined = ''; after !== undefined; ) {
      const query = statements.devicesQuery(whole, after, maxDevicesAtOnce);
      const devices = (await analytics.query<{ device_id: string }>(query)).map(({ device_id }) => device_id);
      await commander.append(devices.map((name) => commandOf(whole, { _id: whole._id, name, receivedBy }, name)));
      after = devices.at(-1);
    }
    return commander.ends();
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

  /** Yields the user records of targets in pages. */
  async function* findUsers(scope: Scope, users: readonly statements.Target[]): AsyncGenerator<statements.FoundUser[]> {
    for (const group of statements.groupedTargets(users)) {
      let after: statements.FoundUser | undefined;
      do {
        const query = statements.usersQuery(scope, group, after, maxDevicesAtOnce);
        const found: statements.FoundUser[] = await analytics.query<statements.FoundUser>(query);
        yield found;
        after = found.length < maxDevicesAtOnce ? undefined : found.at(-1);
      } while (after !== undefined);
    }
  }

  const commandOf = (
    { project, environment }: ErasureRecord | Batch,
    { _id, name, receivedBy }: UserTarget,
    deviceId: string,
  ): ErasureCommand => ({ project, environment, deviceId, erasure: _id, name, createdBy: receivedBy });

  /** Returns commands to forget the users, on every device that was found to have one. */
  const commandsOf = (
    batch: Batch,
    users: readonly UserTarget[],
    found: readonly statements.FoundUser[],
  ): ErasureCommand[] =>
    users.flatMap((user) => {
      const of = found.filter((each) => [each.user, each.user_id, each.device_id].includes(user.name));
      const devices = new Set(of.map(({ device_id }) => device_id));
      for (const device of ['', user.name]) devices.delete(device);
      return Array.from(devices, (device) => commandOf(batch, user, device));
    });

  /**
   * Appends commands for the location stage.
   * @param isEvaluated tells of an erasure whether the states show every location that was received before it. Then
   * only devices whose states have an erased user need a command. Otherwise all do.
   */
  function createCommander(isEvaluated: (erasure: string) => boolean) {
    const partitions = new Set<number>();

    /** Returns the `_id`s of the users that the commands erase from the states as of now. */
    async function append(commands: readonly ErasureCommand[]): Promise<string[]> {
      const byPartition = new Map<number, { readonly key: string; readonly command: Location }[]>();
      for (const command of commands) {
        const key = deviceKey(command);
        const partition = log.partitionOf(topics.locations, key);
        const group = byPartition.get(partition) ?? [];
        byPartition.set(partition, group);
        group.push({ key, command: erasureCommand(command) });
      }
      const ids: string[] = [];
      const needed: { readonly key: string; readonly value: Buffer }[] = [];
      for (const [partition, group] of byPartition) {
        const stored = await states.load(
          partition,
          group.map(({ key }) => key),
        );
        for (const [index, { key, command }] of group.entries()) {
          const state = stored[index];
          const users = erasedUsers(command, state && decodeDeviceState(state));
          ids.push(...users.map(({ id }) => id));
          if (users.length === 0 && isEvaluated(command.id)) continue;
          needed.push({ key, value: codecs.location.encode(command) });
          partitions.add(partition);
        }
      }
      if (needed.length > 0) await log.append(topics.locations, needed);
      return ids;
    }

    /** Returns the ends of the partitions that have commands. */
    async function ends(): Promise<Map<number, number>> {
      const all = new Map<number, number>();
      for (const partition of partitions) all.set(partition, await log.end(topics.locations, partition));
      return all;
    }

    return { append, ends };
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

  /** Returns whether all rows were looked for. */
  async function eraseRows(
    scope: Scope,
    users: readonly statements.Target[],
    ids: readonly string[],
    events: readonly string[],
  ): Promise<boolean> {
    const rows: [table: string, conditions: string[]][] = [
      ...statements.userTables.map((table): [string, string[]] => [
        table,
        statements.userRows(scope, table, users, ids),
      ]),
      ['webhook_attempts', statements.attemptRows(scope, users, ids)],
      ['events', statements.eventRows(scope, events)],
      ['webhook_attempts', statements.attemptRowsOfEvents(scope, events)],
    ];
    return deleteFound(rows.flatMap(([table, conditions]) => conditions.map((each) => [table, each] as const)));
  }

  /** Deletes rows. Returns false if the eraser was stopped before all conditions were looked for. */
  async function deleteFound(rows: readonly (readonly [table: string, condition: string])[]): Promise<boolean> {
    for (const [table, condition] of rows) {
      if (isStopping) return false;
      const [found] = await analytics.query<{ n: number }>(`SELECT count() AS n FROM ${table} WHERE ${condition}`);
      if (found && found.n > 0) await analytics.command(statements.deleteRows(table, condition, parts.cluster));
    }
    return true;
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
