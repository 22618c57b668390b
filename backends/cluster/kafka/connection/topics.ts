/**
 * Creates missing topics with their settings, and checks existing ones. Existing topics are never altered: their
 * settings belong to the operator of the brokers.
 */
import kafkajs, { type Admin, type ITopicConfig } from 'kafkajs';
import { type Topic, topics } from '../../../../pipeline/ports.js';
import { dayMs } from '../../../../schemas/durations.js';
import { topicRetentionMs } from '../../../topic-retention.js';
import type { KafkaOptions } from '../../options.js';
import { whileBrokersChange } from './client.js';

type TopicSettings = Pick<
  KafkaOptions,
  'prefix' | 'partitions' | 'replicationFactor' | 'minInSyncReplicas' | 'retentionMs'
>;

/**
 * Larger than any record that Fenceline writes: a map marker of 256 KiB as base64, a delivery of 1 MiB, a request's
 * body.
 */
const maxBatchBytes = 4 * 2 ** 20;
/** A dead letter contains a whole record, with its key and the reason. */
const maxDeadLetterBytes = maxBatchBytes + 2 ** 20;

/** Returns the size of the largest batch, with its header, that the topic accepts. */
export const maxBatchBytesOf = (topic: Topic): number =>
  topic === topics.deadLetters ? maxDeadLetterBytes : maxBatchBytes;

/**
 * A rejected edit may be the newest record of its key. Until a node has corrected that, compaction must keep the
 * accepted one.
 */
const minCompactionLagMs = dayMs;
/** Kafka forgets a segment as a whole, when its last record is old enough. By default it has the records of a week. */
const segmentMs = dayMs;

/** Returns the number of partitions that a topic gets: `changes` has one, because its order counts. */
export const partitionsOf = (topic: Topic, { partitions }: Pick<KafkaOptions, 'partitions'>): number =>
  topic === topics.changes ? 1 : partitions;

/** What an inspection of the topics finds, as sentences that name the topic. */
interface TopicFindings {
  /** Full names of topics that do not exist. */
  readonly missing: readonly string[];
  /** With these settings Fenceline can't use the topics. */
  readonly faults: readonly string[];
  /** These settings put records at risk. */
  readonly risks: readonly string[];
}

/** Compares the topics that exist with the settings. Changes nothing. */
export async function inspectTopics(admin: Admin, settings: TopicSettings): Promise<TopicFindings> {
  const missing = await missingTopics(admin, settings);
  const present = Object.values(topics).filter((topic) => !missing.includes(topic));
  const [compaction, partitions] = await Promise.all([
    present.includes(topics.changes) ? compactionFindings(admin, settings.prefix + topics.changes) : noFindings,
    partitionFindings(admin, settings, present),
  ]);
  return {
    missing: missing.map((topic) => settings.prefix + topic),
    faults: [...compaction.faults, ...partitions.faults],
    risks: [...compaction.risks, ...(await weaknesses(admin, settings, partitions.replicas))],
  };
}

/**
 * Creates missing topics. Rejects when an existing topic can't be used, and reports settings that put records at risk
 * to `onProblem`. Any number of nodes may call this at once.
 */
export async function ensureTopics(
  admin: Admin,
  settings: TopicSettings,
  onProblem: (message: string) => void,
): Promise<void> {
  const missing = await missingTopics(admin, settings);
  if (missing.length > 0) await createTopics(admin, settings, missing);
  // A topic that was just created has the settings that it was given.
  const compaction = missing.includes(topics.changes)
    ? noFindings
    : await compactionFindings(admin, settings.prefix + topics.changes);
  for (const risk of compaction.risks) onProblem(risk);
  const { faults, replicas } = await partitionFindings(admin, settings, Object.values(topics));
  for (const fault of [...compaction.faults, ...faults]) throw new Error(fault);
  for (const risk of await weaknesses(admin, settings, replicas)) onProblem(risk);
}

/** Asks the brokers whether they would create the topics. Creates nothing. */
export async function rehearseCreation(admin: Admin, settings: TopicSettings): Promise<void> {
  const missing = await missingTopics(admin, settings);
  if (missing.length > 0) await createTopics(admin, settings, missing, true);
}

const noFindings: Omit<TopicFindings, 'missing'> = { faults: [], risks: [] };

async function missingTopics(admin: Admin, { prefix }: TopicSettings): Promise<Topic[]> {
  const existing = new Set(await whileBrokersChange(() => admin.listTopics()));
  return Object.values(topics).filter((topic) => !existing.has(prefix + topic));
}

async function createTopics(
  admin: Admin,
  settings: TopicSettings,
  missing: readonly Topic[],
  validateOnly = false,
): Promise<void> {
  const configs = missing.map((topic) => topicConfig(topic, settings));
  const create = () => admin.createTopics({ topics: configs, waitForLeaders: false, validateOnly });
  await whileBrokersChange(create).catch((error) => {
    throw withReasons(error);
  });
}

/** Adds the reasons and their topics, which kafkajs has in nested errors, to the message. */
function withReasons(
  error: Error & { readonly errors?: readonly { readonly topic?: string; readonly message: string }[] },
): Error {
  if (error.errors === undefined) return error;
  const named = new Map<string, string[]>();
  for (const { topic, message } of error.errors) named.set(message, [...(named.get(message) ?? []), topic ?? '?']);
  const reasons = Array.from(named, ([message, topics]) => `${message} (${topics.join(', ')})`);
  return new Error(`topics can't be created: ${reasons.join('; ')}`, { cause: error });
}

/** Returns the topic that a first start creates. */
export function topicConfig(topic: Topic, settings: TopicSettings): ITopicConfig {
  const { prefix, replicationFactor } = settings;
  const inSync = replicationFactor > 0 ? inSyncOf(settings, replicationFactor) : settings.minInSyncReplicas;
  const entries = {
    ...(inSync > 0 && { 'min.insync.replicas': inSync }),
    'message.timestamp.type': 'LogAppendTime',
    'max.message.bytes': maxBatchBytesOf(topic),
    // Other clients may compress records with codecs that kafkajs can't read. The broker decompresses them.
    'compression.type': 'uncompressed',
    ...cleanUp(topic, settings),
  };
  return {
    topic: prefix + topic,
    numPartitions: partitionsOf(topic, settings),
    replicationFactor,
    configEntries: Object.entries(entries).map(([name, value]) => ({ name, value: `${value}` })),
  };
}

function cleanUp(topic: Topic, { retentionMs }: TopicSettings): Readonly<Record<string, string | number>> {
  const keptMs = retentionMs[topic] ?? topicRetentionMs[topic];
  if (topic !== topics.changes) return { 'cleanup.policy': 'delete', 'retention.ms': keptMs, 'segment.ms': segmentMs };
  return {
    'cleanup.policy': 'compact',
    // A node that was down for longer must read the whole topic again.
    'delete.retention.ms': keptMs,
    'min.compaction.lag.ms': minCompactionLagMs,
    // Small segments and early compaction: a node that starts reads the whole topic, outdated records too.
    'segment.ms': segmentMs,
    'segment.bytes': 64 * 2 ** 20,
    'min.cleanable.dirty.ratio': 0.2,
  };
}

/** Checks the clean-up policy. With clean-up by time, the configuration would be lost silently after a week. */
async function compactionFindings(admin: Admin, name: string): Promise<Omit<TopicFindings, 'missing'>> {
  const lagName = 'min.compaction.lag.ms';
  const asked = [{ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames: ['cleanup.policy', lagName] }];
  const { resources } = await whileBrokersChange(() =>
    admin.describeConfigs({ resources: asked, includeSynonyms: false }),
  );
  const configured = (wanted: string) =>
    resources[0]?.configEntries.find(({ configName }) => configName === wanted)?.configValue;
  const policy = configured('cleanup.policy');
  const lagMs = Number(configured(lagName) ?? 0);
  const risk = 'a rejected edit may replace an accepted one';
  return {
    faults: policy === 'compact' ? [] : [`topic ${name} has cleanup.policy ${policy}: it must be compact`],
    risks:
      lagMs >= minCompactionLagMs
        ? []
        : [`topic ${name} has ${lagName} ${lagMs}: ${risk}. Set it to ${minCompactionLagMs} or more`],
  };
}

/** Compares the numbers of partitions, and returns the number of replicas of each topic by its name. */
async function partitionFindings(
  admin: Admin,
  settings: TopicSettings,
  present: readonly Topic[],
): Promise<{ readonly faults: readonly string[]; readonly replicas: ReadonlyMap<string, number> }> {
  if (present.length === 0) return { faults: [], replicas: new Map() };
  const names = present.map((topic) => settings.prefix + topic);
  const { topics: found } = await whileBrokersChange(() => admin.fetchTopicMetadata({ topics: names }));
  const faults = present.flatMap((topic) => {
    const name = settings.prefix + topic;
    const partitions = found.find((each) => each.name === name)?.partitions.length ?? 0;
    const wanted = partitionsOf(topic, settings);
    if (partitions === wanted) return [];
    return [`topic ${name} has ${partitions} partitions, not ${wanted}: keys would go to other partitions`];
  });
  const replicas = new Map(
    found.map(({ name, partitions }) => [name, Math.min(...partitions.map(({ replicas }) => replicas.length))]),
  );
  return { faults, replicas };
}

/** Returns how many replicas must have a record: two of three, so that one may fail. */
const inSyncOf = ({ minInSyncReplicas }: TopicSettings, replicas: number): number =>
  minInSyncReplicas > 0 ? minInSyncReplicas : replicas >= 3 ? 2 : 1;

/** Returns a sentence for each topic setting that is less durable than the configuration requires. */
async function weaknesses(
  admin: Admin,
  settings: TopicSettings,
  replicas: ReadonlyMap<string, number>,
): Promise<string[]> {
  if (replicas.size === 0) return [];
  const configNames = ['min.insync.replicas', 'unclean.leader.election.enable'];
  const resources = [...replicas.keys()].map((name) => ({
    type: kafkajs.ConfigResourceTypes.TOPIC,
    name,
    configNames,
  }));
  const described = await whileBrokersChange(() => admin.describeConfigs({ resources, includeSynonyms: false }));
  return described.resources.flatMap(({ resourceName: name, configEntries }) => {
    const configured = (wanted: string) => configEntries.find(({ configName }) => configName === wanted)?.configValue;
    const count = replicas.get(name) ?? 0;
    const wanted = inSyncOf(settings, count);
    const problems: string[] = [];
    if (count < settings.replicationFactor) {
      problems.push(
        `topic ${name} has ${count} replicas, not ${settings.replicationFactor}: fewer lost brokers lose records`,
      );
    }
    if (Number(configured('min.insync.replicas')) < wanted) {
      problems.push(
        `topic ${name} has min.insync.replicas ${configured('min.insync.replicas')}, not ${wanted}: ` +
          'a record may be acknowledged by too few brokers',
      );
    }
    if (configured('unclean.leader.election.enable') === 'true') {
      problems.push(
        `topic ${name} has unclean.leader.election.enable true: ` +
          'a broker that lacks acknowledged records may become its leader',
      );
    }
    return problems;
  });
}
