/** A node for tests of the stages: embedded log and stores in a temporary folder, the read model, and a catalog. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Embedded, openEmbedded } from '../../../backends/embedded/embedded.js';
import { type Codec, codecs } from '../../../schemas/codecs.js';
import { deriveId } from '../../../schemas/ids.js';
import type { ChangeKind, DeadLetter, DeviceState, Event, Location, Outcome } from '../../../schemas/records.js';
import { until } from '../../../testing/until.js';
import { createCatalog, type MonitoredCatalog } from '../../catalog/index/catalog.js';
import { followChanges } from '../../catalog/store/changes.js';
import { createConfigurationWriter } from '../../catalog/store/configuration-writer.js';
import { openReadModel, type ReadModel } from '../../catalog/store/read-model.js';
import { beaconRecord, geofenceRecord, location, projectRecord } from '../../catalog/testing/fixtures.js';
import type { ConfigurationChange, ConfigurationWriter } from '../../catalog/types.js';
import { type Log, type LogRecord, type NewRecord, type Subscription, type Topic, topics } from '../../ports.js';
import { decodeDeviceState } from '../../records/device-state.js';
import { createLocationStage, type LocationStageBounds, type LocationStageParts } from '../locations/stage.js';

export { beaconRecord, geofenceRecord, location, projectRecord };

/** The clock of the node's stages. */
export const clock = Date.now;

/** Returns the record key of a location. */
export const keyOf = ({ project, environment, deviceId }: Location): string => `${project}/${environment}/${deviceId}`;

/** Returns the location as ingest appends it. */
export const locationRecord = (value: Location): NewRecord => ({
  key: keyOf(value),
  value: codecs.location.encode(value),
});

/** Wraps the log of a process that has lost its partitions and does not know it yet. */
export const withPartitionsLost = (log: Log): Log => ({
  ...log,
  consume: (options) =>
    log.consume({
      ...options,
      handler: {
        assigned: (partition) => options.handler.assigned(partition, () => false),
        revoked: (partition) => options.handler.revoked(partition),
        records: (partition, records) => options.handler.records(partition, records),
      },
    }),
});

/**
 * Wraps a log that reports the divergence of a former position: while it compared that one, the position was repaired
 * and the partition was claimed again.
 */
export const withPositionRepairedMeanwhile = (log: Log): Log => ({
  ...log,
  consume: (options) => {
    const { handler, topic } = options;
    const { diverged } = handler;
    if (diverged === undefined) return log.consume(options);
    const position = { offset: 420, mark: '419:0:1:0' };
    return log.consume({
      ...options,
      handler: {
        async assigned(partition, isOurs) {
          await handler.assigned(partition, isOurs);
          const bounds = await log.bounds(topic, partition);
          const divergence = { topic, partition, position, ...bounds, leaderEpoch: null, commonEnd: bounds.end };
          return diverged.call(handler, partition, divergence);
        },
        diverged: (partition, divergence) => diverged.call(handler, partition, divergence),
        revoked: (partition) => handler.revoked(partition),
        records: (partition, records) => handler.records(partition, records),
      },
    });
  },
});

/** Reads every record of a topic, by partition and offset. */
export async function readAll({ log }: Embedded, topic: Topic): Promise<LogRecord[]> {
  const records: LogRecord[] = [];
  for (let partition = 0; partition < log.partitions(topic); partition++) {
    const { first, end } = await log.bounds(topic, partition);
    records.push(...(await log.read(topic, partition, first, end - first, Number.POSITIVE_INFINITY)).records);
  }
  return records;
}

/** Converts decoded records, which are instances of schema classes, to plain objects for comparisons. */
export const plain = <T>(value: T): T => JSON.parse(JSON.stringify(value)) as T;

const decodeAll = <T>(codec: Codec<T>, records: readonly LogRecord[]): T[] =>
  records.map(({ value }) => plain(codec.decode(value as Buffer)));

/** Large enough for all tests that do not give their own. */
const locationStageBounds: LocationStageBounds = {
  maxBatchRecords: 5_000,
  maxCachedDevices: 200_000,
  maxDeadLetterShare: 0.5,
};

interface StartedLocationStage extends Partial<Omit<LocationStageParts, 'bounds'>> {
  readonly bounds?: Partial<LocationStageBounds>;
}

/** A node that a test starts, stops and opens again on the same folder, as after a crash. */
export class TestNode {
  readonly folder = mkdtempSync(join(tmpdir(), 'fenceline-stages-'));
  readonly replies: { replyTo: string; body: string }[] = [];
  readonly partitions: number;
  embedded!: Embedded;
  readModel!: ReadModel;
  catalog!: MonitoredCatalog;
  writer!: ConfigurationWriter;
  #changes!: Subscription;
  #stages: Subscription[] = [];

  private constructor(partitions: number) {
    this.partitions = partitions;
  }

  /** Opens a node in a new folder. */
  static async open({ partitions = 2 }: { partitions?: number } = {}): Promise<TestNode> {
    const node = new TestNode(partitions);
    await node.#open();
    return node;
  }

  async #open(): Promise<void> {
    this.embedded = openEmbedded({ path: join(this.folder, 'data'), partitions: this.partitions });
    this.readModel = openReadModel(join(this.folder, 'read-model'));
    const { log } = this.embedded;
    this.#changes = followChanges({
      log,
      readModel: this.readModel,
      onProblem: (problem) => {
        throw new Error(JSON.stringify(problem));
      },
    });
    this.writer = createConfigurationWriter({ log, readModel: this.readModel });
    this.catalog = createCatalog(this.readModel);
  }

  /** Saves configuration; resolves when the read model shows it. */
  async configure(
    ...things: { kind: ChangeKind; record: NonNullable<ConfigurationChange['record']> }[]
  ): Promise<void> {
    await this.writer.write(things.map(({ kind, record }) => ({ kind, id: record._id, record })));
  }

  /** Deletes configuration. */
  async remove(kind: ChangeKind, id: string): Promise<void> {
    await this.writer.write([{ kind, id, record: null }]);
  }

  /** Appends locations, keyed by device. */
  append(...locations: Location[]): Promise<void> {
    return this.embedded.log.append(topics.locations, locations.map(locationRecord));
  }

  /** Starts the location stage. Options replace its parts. */
  start({ bounds, ...parts }: StartedLocationStage = {}): Subscription {
    const stage = createLocationStage({
      log: this.embedded.log,
      states: this.embedded.stateStore,
      catalog: this.catalog,
      replies: { send: (replyTo, body) => this.replies.push({ replyTo, body }) },
      clock,
      ...parts,
      bounds: { ...locationStageBounds, ...bounds },
    });
    this.#stages.push(stage);
    return stage;
  }

  /** Resolves when every location in the log has an outcome or a dead letter. */
  async drained(): Promise<void> {
    const { log } = this.embedded;
    const count = async (topic: Topic): Promise<number> => {
      let total = 0;
      for (let partition = 0; partition < log.partitions(topic); partition++)
        total += (await log.bounds(topic, partition)).end;
      return total;
    };
    const isDrained = async () =>
      (await count(topics.outcomes)) + (await count(topics.deadLetters)) >= (await count(topics.locations));
    await until(isDrained, { pollEveryMs: 2 });
  }

  /** Returns all outcomes of the log, in the order of partitions and offsets. */
  async outcomes(): Promise<Outcome[]> {
    return decodeAll(codecs.outcome, await readAll(this.embedded, topics.outcomes));
  }

  /** Returns all events of the log. */
  async events(): Promise<Event[]> {
    return decodeAll(codecs.event, await readAll(this.embedded, topics.events));
  }

  /** Returns all dead letters of the log. */
  async deadLetters(): Promise<DeadLetter[]> {
    return (await readAll(this.embedded, topics.deadLetters)).map(({ value }) =>
      codecs.deadLetter.decode(value as Buffer),
    );
  }

  /** Returns the stored state of a location's device. */
  async state(of: Location): Promise<DeviceState | undefined> {
    const key = keyOf(of);
    const [value] = await this.embedded.stateStore.load(this.embedded.log.partitionOf(topics.locations, key), [key]);
    return value && plain(decodeDeviceState(value));
  }

  /** Closes the stages; configuration changes are still applied. */
  async stop(): Promise<void> {
    await Promise.all(this.#stages.splice(0).map((stage) => stage.close()));
  }

  async #close(): Promise<void> {
    await this.stop();
    await this.#changes.close();
    await this.catalog.close();
    await this.readModel.close();
    await this.embedded.close();
  }

  /** Closes everything and opens the same folder again. */
  async reopen(): Promise<void> {
    await this.#close();
    await this.#open();
  }

  /** Closes everything and removes the folder. */
  async dispose(): Promise<void> {
    await this.#close();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Returns the id of the n-th location, device and so on. */
export const idOf = (kind: string, number: number): string => deriveId(kind, String(number));
