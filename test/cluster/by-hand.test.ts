/**
 * The trial of docs/cluster.md without Docker works as written: its commands start Kafka, Redis and the registry, three
 * nodes on them, and a worker that is killed is replaced. Only ClickHouse is the engine of the other tests.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { archiveIn, javaOptions } from '../../testing/services/class-archives.js';
import { freePorts } from '../../testing/services/ports.js';
import { newTestCluster } from '../support/cluster.js';
import { program } from '../support/program.js';
import { patientReplies } from '../support/server.js';

const guide = readFileSync(new URL('../../docs/cluster.md', import.meta.url), 'utf8');
const section = /### On one machine, without Docker\n([\s\S]*?)\n### /.exec(guide)?.[1] ?? '';
const [services = '', clickHouse = '', nodes = '', trial = '', end = ''] = [
  ...section.matchAll(/```sh\n([\s\S]*?)```/g),
].map(([, block]) => block as string);

const folder = mkdtempSync(join(tmpdir(), 'fenceline-by-hand-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function writeProgram(path: string, command: string): void {
  mkdirSync(join(folder, path, '..'), { recursive: true });
  writeFileSync(join(folder, path), `#!/usr/bin/env bash\nexec ${command} "$@"\n`);
  chmodSync(join(folder, path), 0o755);
}

/** Runs the script. Its process group has the servers that it leaves behind, and ends with it. */
async function run(
  script: string,
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly status: number | null; readonly output: string }> {
  const child = spawn('bash', ['-ec', script], { cwd: folder, env: environment, detached: true });
  const endServers = (): void => {
    try {
      process.kill(-child.pid!, 'SIGKILL');
    } catch {
      // All have ended, as the guide says.
    }
  };
  onTestFinished(endServers);
  // Servers of a script that failed would keep its output open.
  child.once('exit', endServers);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (bytes: Buffer) => {
      output += bytes;
    });
  const [status] = (await once(child, 'close')) as [number | null];
  return { status, output };
}

function logTails(): string {
  const logs = readdirSync(join(folder, 'trial')).filter((name) => name.endsWith('.log'));
  return logs.map((name) => `${name}: ${readFileSync(join(folder, 'trial', name), 'utf8').slice(-1_000)}`).join('\n');
}

/** Shows what a refusal says, and repeats a request that a busy node answers with 503 and Retry-After. */
const patiently = '-sS --fail-with-body --retry 10';

/** Without them the services come from Docker, and there is nothing to start by hand. */
const { TEST_SERVICES_KAFKA: jars = '', TEST_SERVICES_REGISTRY: registry = '' } = process.env;

it.skipIf(jars === '' || registry === '')(
  'starts a cluster by hand, answers with events, and goes on without one of two workers',
  async () => {
    // What the scripts of Kafka's own archive do.
    const java = `java $KAFKA_HEAP_OPTS "-XX:SharedArchiveFile=${archiveIn(jars)}" -cp "${jars}/*"`;
    writeProgram('kafka/bin/kafka-storage.sh', `${java} kafka.tools.StorageTool`);
    writeProgram('kafka/bin/kafka-server-start.sh', `${java} kafka.Kafka`);
    writeProgram('node_modules/.bin/fenceline', `"${process.execPath}" "${program}"`);
    symlinkSync(registry, join(folder, 'registry'));

    const written = ['9092', '9093', '6379', '8081', '8080', '8082', '8083'];
    const ports = await freePorts(written.length);
    const onFreePorts = (block: string): string =>
      written.reduce(
        (text, port, index) => text.replaceAll(new RegExp(`\\b${port}\\b`, 'g'), `${ports[index]}`),
        block,
      );
    const { FENCELINE_CLICKHOUSE_URL, FENCELINE_CLICKHOUSE_DATABASE, FENCELINE_CLICKHOUSE_USERNAME, ...shared } =
      newTestCluster()!.environment;
    const environment = {
      ...process.env,
      FENCELINE_CLICKHOUSE_URL,
      FENCELINE_CLICKHOUSE_DATABASE,
      FENCELINE_CLICKHOUSE_USERNAME,
      FENCELINE_CLICKHOUSE_PASSWORD: shared.FENCELINE_CLICKHOUSE_PASSWORD,
      ...patientReplies,
      FENCELINE_KAFKA_BROKERS: `127.0.0.1:${ports[0]}`,
      FENCELINE_REDIS_NODES: `127.0.0.1:${ports[2]}`,
      // Of all programs in Java that the guide starts.
      JAVA_TOOL_OPTIONS: javaOptions,
    };
    expect(clickHouse).toContain('--http_port 8123');
    // The answer of the second location waits for the other worker, instead of the guide's user.
    const steps = [
      services,
      'sleep 1000 > trial/clickhouse.log & echo $! > trial/clickhouse.pid',
      nodes,
      trial.replace(/^sleep .*\n/m, ''),
      end,
    ].map((block) => onFreePorts(block).replaceAll(/curl (?=-X|http)/g, `curl ${patiently} `));
    const { status, output } = await run(steps.join('\n'), environment);
    expect(status, `${output}\n${logTails()}`).toBe(0);
    expect(output).toContain('\nFailures: 0.');
    expect(output).toContain('user.entered_geofence');
    expect(output).toContain('user.exited_geofence');
  },
  900_000,
);
