/**
 * Apache Kafka for tests: one broker, or three that replicate. TEST_KAFKA_VERSION says which of the supported versions,
 * 3.9 by default.
 *
 * Clients use the listener CLIENT with the security that the test requires. Brokers use the unencrypted listener
 * INTERNAL. Without an authorizer, every authenticated user has all permissions.
 */
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { until } from '../until.js';
import { javaOptions, recordClasses, setClassesOption } from './class-archives.js';
import { withKafka } from './clients.js';
import { type Broker, filesOf, type KafkaSettings, loggingOptions, scramOf } from './kafka-settings.js';
import { freePorts, loopback } from './ports.js';
import { run } from './provider.js';
import { type Program, type Server, type Software, startTimeoutMs, together } from './server.js';

/** Running brokers. */
export interface KafkaServer extends Server {
  /** `host:port` of each. */
  readonly brokers: readonly string[];
  /** `host:port` of each, where nothing is demanded and all is allowed. */
  readonly internal: readonly string[];
  /** The nodes, one by one. Actions on the server apply to all of them. */
  readonly nodes: readonly Server[];
  readonly version: string;
}

const versions: Readonly<Record<string, { readonly variable: string; readonly image: string }>> = {
  '3.9': { variable: 'TEST_SERVICES_KAFKA', image: 'apache/kafka:3.9.1' },
  '4.1': { variable: 'TEST_SERVICES_KAFKA_4_1', image: 'apache/kafka:4.1.1' },
};

/** Where brokers of the chosen version come from. */
export const kafka: Software = softwareOf(process.env.TEST_KAFKA_VERSION ?? '3.9');

/** Throws on a version that isn't supported. */
function softwareOf(version: string): Software {
  const { variable, image } = versions[version] ?? {};
  if (variable === undefined || image === undefined)
    throw new Error(`TEST_KAFKA_VERSION ${version}: one of ${Object.keys(versions).join(', ')}`);
  return { name: 'kafka', commands: ['java'], folder: { variable, inImage: '/opt/kafka/libs' }, image };
}

/** Starts the brokers. Resolves when all of them serve clients. */
export async function startKafka(settings: KafkaSettings = {}): Promise<KafkaServer> {
  const count = settings.brokers ?? 1;
  const ports = await freePorts(3 * count);
  const brokers = Array.from({ length: count }, (_, index): Broker => {
    const [client, internal, controller] = ports.slice(3 * index) as [number, number, number];
    return { id: index + 1, client, internal, controller };
  });
  const clusterId = newClusterId();
  const nodes = await run(brokers.map((broker) => programOf(broker, brokers, clusterId, settings)));
  const server = together(nodes);
  try {
    const isWhole = async (): Promise<boolean> => (await known(brokers[0]!).catch(() => [])).length === count;
    await until(isWhole, { timeoutMs: startTimeoutMs });
  } catch (error) {
    await server.stop();
    throw error;
  }
  const addresses = (portOf: (broker: Broker) => number): string[] =>
    brokers.map((each) => `${loopback}:${portOf(each)}`);
  return Object.assign(server, {
    brokers: addresses(({ client }) => client),
    internal: addresses(({ internal }) => internal),
    nodes,
    version: installedVersion() ?? kafka.image,
  });
}

/** Makes later starts fast. */
export async function recordKafkaClasses(): Promise<void> {
  const [client, internal, controller] = (await freePorts(3)) as [number, number, number];
  const broker = { id: 1, client, internal, controller };
  await recordClasses(programOf(broker, [broker], newClusterId(), {}));
}

const newClusterId = (): string => Buffer.from(randomUUID().slice(0, 16)).toString('base64url');

/**
 * All that a broker of Kafka 3 needs on its disk, unless it has users from the beginning: the newest version of its
 * records is the default. Kafka's own tool takes half as much processor time as the start of a broker.
 */
const metaPropertiesOf = ({ id }: Broker, clusterId: string): string =>
  `version=1\ncluster.id=${clusterId}\nnode.id=${id}\n`;
const layMetaProperties = 'mkdir -p data && cp meta.properties data/';

/**
 * Kafka 4 needs a second file, which switches features such as `group.version` on. It is the same for each cluster, so
 * what the tool wrote first is kept beside the program's jars, if they are not in an image.
 */
function layFeatures(tool: string): string {
  const kept = `"$${kafka.folder!.variable}/features-1.checkpoint"`;
  const file = 'data/bootstrap.checkpoint';
  const keep = `{ cp ${file} ${kept}.$$ && mv ${kept}.$$ ${kept}; } 2>/dev/null || true`;
  return `if [ -e ${kept} ]; then ${layMetaProperties} && cp ${kept} ${file}; else ${tool} && { ${keep}; }; fi`;
}

function formatOf(tool: string, hasUsers: boolean): string {
  if (hasUsers) return tool;
  return kafka.image.includes(':3.') ? layMetaProperties : layFeatures(tool);
}

function programOf(broker: Broker, all: readonly Broker[], clusterId: string, settings: KafkaSettings): Program {
  const java = `java ${javaOptions} \${classes:+"$classes"} ${loggingOptions}`;
  const jars = `-cp "$${kafka.folder!.variable}/*"`;
  const scram = scramOf(settings);
  const tool = `kafka.tools.StorageTool format --ignore-formatted -t ${clusterId} -c server.properties ${scram}`;
  const format = formatOf(`${java} ${jars} ${tool}`, scram !== '');
  const { client, internal, controller } = broker;
  const listeners = `CLIENT://$BIND:${client},INTERNAL://$BIND:${internal},CONTROLLER://$BIND:${controller}`;
  return {
    software: kafka,
    ports: [client, internal, controller],
    files: { ...filesOf(broker, all, settings), 'meta.properties': metaPropertiesOf(broker, clusterId) },
    script: [
      setClassesOption(kafka),
      `[ -e formatted ] || { ${format} && touch formatted; } || exit 1`,
      `exec ${java} ${jars} kafka.Kafka server.properties --override "listeners=${listeners}"`,
    ].join('\n'),
    ping: () => isKnownToItself(broker),
  };
}

/** The brokers that one of them has heard of. */
const known = ({ internal }: Broker): Promise<number[]> =>
  withKafka({ brokers: [`${loopback}:${internal}`] }, async (admin) => {
    const { brokers } = await admin.describeCluster();
    return brokers.map(({ nodeId }) => nodeId);
  });

async function isKnownToItself(broker: Broker): Promise<void> {
  if (!(await known(broker)).includes(broker.id)) throw new Error('the broker is not part of its cluster yet');
}

function installedVersion(): string | undefined {
  const folder = process.env[kafka.folder!.variable];
  if (!folder) return undefined;
  return readdirSync(folder).flatMap((name) => /^kafka-clients-(.*)\.jar$/.exec(name)?.[1] ?? [])[0];
}
