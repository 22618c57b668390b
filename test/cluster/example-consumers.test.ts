/** Runs the examples that read topic events from Kafka, in Java and Python. */
import { spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { type ClusterBackend, openCluster } from '../../backends/cluster/cluster.js';
import { connectKafka } from '../../backends/cluster/kafka/connection/connection.js';
import { topics } from '../../pipeline/ports.js';
import { codecs } from '../../schemas/codecs.js';
import { exampleEvent } from '../../schemas/testing/examples.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';
import { freshKafkaOptions, removeTopics } from './kafka/fresh-kafka.js';
import { freshRedisOptions } from './redis/fresh-redis.js';

const { redis, registry } = services()!;
const cwd = fileURLToPath(new URL('../..', import.meta.url));
const { TEST_SERVICES_KAFKA, TEST_SERVICES_REGISTRY, TEST_SERVICES_PYTHON } = process.env;
const kafka = freshKafkaOptions();
let cluster: ClusterBackend;

beforeAll(async () => {
  const parts = { kafka, registry: { url: registry.url }, redis: freshRedisOptions([redis]), stateRetentionMs: 0 };
  cluster = await openCluster({ ...parts, onProblem: console.warn });
});
afterAll(async () => {
  await cluster?.close();
  await removeTopics(await connectKafka(kafka, () => {}));
});

/** Kafka's client and Avro, which comes with the registry. */
const classPath = (): string => {
  const libraries = join(TEST_SERVICES_REGISTRY!, 'lib');
  const avro = readdirSync(libraries).filter((name) => /^org\.apache\.avro\.avro-.*\.jar$/.test(name));
  return [`${TEST_SERVICES_KAFKA}/*`, ...avro.map((name) => join(libraries, name))].join(':');
};

it.runIf(TEST_SERVICES_KAFKA && TEST_SERVICES_REGISTRY && TEST_SERVICES_PYTHON)(
  'consumers in Java and Python print each event once, also one that is on the topic twice',
  async () => {
    const ids = ['a', 'b', 'c'].map((letter) => letter.repeat(24));
    const [first, ...others] = ids.map((id) => ({
      key: 'project/test/device',
      value: codecs.event.encode(exampleEvent({ id })),
    }));
    await cluster.log.append(topics.events, [first!]);
    await cluster.log.append(topics.events, [{ ...first!, value: Buffer.from(first!.value) }, ...others]);
    const commands: readonly (readonly [string, readonly string[]])[] = [
      ['java', ['-cp', classPath(), 'examples/FollowEvents.java']],
      [TEST_SERVICES_PYTHON!, ['examples/follow_topic.py']],
    ];
    const environment = { KAFKA: kafka.brokers.join(), REGISTRY: registry.url, TOPIC: `${kafka.prefix}events` };
    const outputs = commands.map(([program, args], index) => {
      const child = spawn(program, args, {
        cwd,
        env: { ...process.env, ...environment, GROUP: `${kafka.prefix}example-${index}` },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      const output = { printed: '', problems: '' };
      child.stdout.on('data', (bytes: Buffer) => {
        output.printed += bytes;
      });
      child.stderr.on('data', (bytes: Buffer) => {
        output.problems += bytes;
      });
      return output;
    });
    await until(() => outputs.every(({ printed }) => ids.every((id) => printed.includes(id))), {
      describe: () => JSON.stringify(outputs),
      timeoutMs: 200_000,
    });
    for (const { printed } of outputs)
      expect(printed.trim().split('\n')).toEqual(ids.map((id) => `project/test/device ${exampleEvent().type} ${id}`));
  },
);
