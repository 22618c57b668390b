/**
 * Estimates what an installation needs, from measured costs. Pure. docs/cluster.md has the same figures and formulas,
 * and how they were measured.
 */

/** Sizes of records with all overheads, in bytes. */
export const recordBytes = {
  plain: { location: 220, outcome: 280, event: 400, device: 340 },
  /** With user, metadata and SDK details. */
  sdk: { location: 480, outcome: 825, event: 710, device: 660 },
} as const;

/** What one process, or one thread of a service, handles in a second while it has a core to itself. */
export const perCoreAndSecond = {
  ingestLocations: 200_000,
  pipelineLocations: 100_000,
  webhookRequests: 12_000,
  clickHouseRows: 120_000,
  redisLocations: 170_000,
  /** Stored by an embedded node on two cores, with an event from half of the locations. */
  embeddedLocations: 51_000,
} as const;

/** Of a compressed row in ClickHouse: a fleet in one city, 270,000 locations and 40,000 events. */
export const rowBytes = { location: 36, event: 142 } as const;

/** What a broker writes, so that its disk and network are not the limit. */
const brokerBytesPerSecond = 130e6;
/** Two shares of the load: for peaks, and so that half of the processes can fail. */
const reserve = 2;
/** Memory of a geofence of 32 vertices, and of a node that has none. */
const fenceBytes = 1_100;
const nodeBytes = 300e6;
const outboxBytesPerPartition = 1.5e6;
const partitionsPerRedisMaster = 40;
const partitionChoices = [48, 96, 128, 256, 512, 1_024, 2_048, 4_096];
const coresPerClickHouseShard = 2;
/** ClickHouse needs free space to merge parts. */
const freeForMerges = 1.5;
const clickHouseReplicas = 2;
const clickHouseDays = { location: 7, event: 365 } as const;
const secondsPerDay = 86_400;

/** What an installation must carry. */
export interface Workload {
  readonly devices: number;
  /** Time between two locations of a device. */
  readonly everySeconds: number;
  readonly fences: number;
  readonly eventsPerLocation: number;
  /** Requests to webhooks per event. */
  readonly deliveriesPerEvent: number;
  readonly records: keyof typeof recordBytes;
  /** Copies of each record in Kafka. */
  readonly replicas: number;
  readonly locationDays: number;
  readonly eventDays: number;
  readonly apiNodes: number;
}

/** What the workload needs, with reserve. */
export interface Estimate {
  readonly locationsPerSecond: number;
  readonly eventsPerSecond: number;
  /** Whether one embedded node with two cores has twice the capacity. */
  readonly fitsOneNode: boolean;
  readonly processes: Readonly<Record<'ingest' | 'pipeline' | 'webhooks' | 'analytics' | 'api', number>>;
  readonly memoryPerNodeBytes: number;
  readonly partitions: number;
  readonly kafka: {
    readonly inBytesPerSecond: number;
    readonly outBytesPerSecond: number;
    readonly writtenBytesPerSecond: number;
    readonly brokers: number;
    readonly diskBytes: number;
  };
  readonly redis: { readonly masters: number; readonly memoryBytes: number };
  readonly clickHouse: { readonly rowsPerSecond: number; readonly shards: number; readonly diskBytes: number };
}

const processesFor = (rate: number, rateOfOne: number): number => Math.max(2, Math.ceil((rate / rateOfOne) * reserve));

/** Calculates an estimate. Capacities are those of {@link perCoreAndSecond}. */
export function estimate(workload: Workload): Estimate {
  const { devices, replicas, apiNodes } = workload;
  const bytes = recordBytes[workload.records];
  const locations = devices / workload.everySeconds;
  const events = locations * workload.eventsPerLocation;

  const processes = {
    ingest: processesFor(locations, perCoreAndSecond.ingestLocations),
    pipeline: processesFor(locations, perCoreAndSecond.pipelineLocations),
    webhooks: processesFor(events * workload.deliveriesPerEvent, perCoreAndSecond.webhookRequests),
    // ClickHouse is the limit; two, so that one may fail.
    analytics: 2,
    api: apiNodes,
  };
  const masters = Math.max(1, Math.ceil((locations / perCoreAndSecond.redisLocations) * reserve));
  const partitions = partitionsFor(Math.max(processes.pipeline, masters > 1 ? masters * partitionsPerRedisMaster : 0));

  const locationBytes = locations * (bytes.location + bytes.outcome);
  const eventBytes = events * bytes.event;
  const writtenBytesPerSecond = (locationBytes + eventBytes) * replicas;
  const storedBytes = locationBytes * workload.locationDays + eventBytes * workload.eventDays;

  const rows = locations + events;
  const rowsBytes =
    locations * rowBytes.location * clickHouseDays.location + events * rowBytes.event * clickHouseDays.event;
  return {
    locationsPerSecond: locations,
    eventsPerSecond: events,
    fitsOneNode: locations * reserve <= perCoreAndSecond.embeddedLocations,
    processes,
    memoryPerNodeBytes: nodeBytes + workload.fences * fenceBytes,
    partitions,
    kafka: {
      inBytesPerSecond: locationBytes + eventBytes,
      outBytesPerSecond: locationBytes + eventBytes * (2 + apiNodes),
      writtenBytesPerSecond,
      brokers: Math.max(replicas, Math.ceil(writtenBytesPerSecond / brokerBytesPerSecond)),
      diskBytes: storedBytes * secondsPerDay * replicas,
    },
    redis: { masters, memoryBytes: devices * bytes.device + partitions * outboxBytesPerPartition },
    clickHouse: {
      rowsPerSecond: rows,
      shards: Math.max(1, Math.ceil(rows / (perCoreAndSecond.clickHouseRows * coresPerClickHouseShard))),
      diskBytes: rowsBytes * secondsPerDay * clickHouseReplicas * freeForMerges,
    },
  };
}

/** Returns the smallest usual number of partitions that is large enough. */
const partitionsFor = (least: number): number =>
  partitionChoices.find((choice) => choice >= least) ?? Math.ceil(least / 1_024) * 1_024;
