/** Commands of a cluster whose services refuse them end with one line, which names the service, and status 1. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { freePorts } from '../../testing/services/ports.js';
import { newTestCluster } from '../support/cluster.js';
import { program } from '../support/program.js';

const { environment } = newTestCluster()!;
const folder = mkdtempSync(join(tmpdir(), 'fenceline-refused-'));
afterAll(() => rmSync(folder, { recursive: true }));

const [nobody = 0] = await freePorts(1);
const wrongPassword = { FENCELINE_REDIS_USERNAME: 'nobody', FENCELINE_REDIS_PASSWORD: 'wrong-one' };
const noKafka = { FENCELINE_KAFKA_BROKERS: `127.0.0.1:${nobody}` };

// A start without Redis ended with a stack, by which operations.md tells a fault of the program.
it.each([
  ['serve', wrongPassword, 'no connection to Redis at'],
  ['serve', noKafka, `Kafka at 127.0.0.1:${nobody}: `],
  ['repair positions', wrongPassword, 'no connection to Redis at'],
  ['replay', wrongPassword, 'no connection to Redis at'],
  ['repartition --partitions 8', wrongPassword, 'no connection to Redis at'],
  ['repartition --partitions 8', noKafka, `Kafka at 127.0.0.1:${nobody}: `],
])('regression: %s, with %o', { timeout: 120_000 }, async (command, changed: object, reason) => {
  const env = { ...process.env, ...environment, FENCELINE_PORT: '0', FENCELINE_DATA: join(folder, 'data'), ...changed };
  const [status, errors] = await new Promise<[unknown, string]>((resolve) =>
    execFile(process.execPath, [program, ...command.split(' ')], { env }, (error, _, stderr) =>
      resolve([error?.code, stderr]),
    ),
  );
  expect(errors.trimEnd().split('\n').at(-1)).toContain(`fenceline: ${reason}`);
  expect(errors).not.toMatch(/wrong-one|^ +at /m);
  expect(status).toBe(1);
});
