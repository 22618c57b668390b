/** Runs the example that puts deliveries of webhooks into Redis. */
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { cutOffRequest } from '../../testing/cut-off-request.js';
import { withRedis } from '../../testing/services/clients.js';
import { services } from '../../testing/services/services.js';
import { until } from '../../testing/until.js';

const { redis } = services()!;
const cwd = fileURLToPath(new URL('../..', import.meta.url));

it('queues a verified delivery once, however often it arrives', async () => {
  const secret = `whsec_${randomBytes(24).toString('base64')}`;
  const queue = `example-${randomBytes(6).toString('hex')}`;
  const child = spawn(process.execPath, ['examples/webhooks-to-queue.mjs'], {
    cwd,
    env: {
      ...process.env,
      WEBHOOK_SECRET: secret,
      REDIS: `redis://${redis.host}:${redis.port}`,
      QUEUE: queue,
      PORT: '0',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => {
    output += bytes;
  });
  await until(() => /listening on \d+/.test(output));
  const [port] = /\d+/.exec(output) ?? [];
  async function deliver(id: string, body: string, signed = body): Promise<number> {
    const at = new Date();
    const headers = {
      'webhook-id': id,
      'webhook-timestamp': `${Math.floor(at.getTime() / 1_000)}`,
      'webhook-signature': new Webhook(secret).sign(id, at, signed),
    };
    return (await fetch(`http://127.0.0.1:${port}`, { method: 'POST', headers, body })).status;
  }
  const [first, second] = ['{"event":{"_id":"1"}}', '{"event":{"_id":"2"}}'] as const;
  expect(await deliver('1', first)).toBe(204);
  // The program ended when a sender broke off.
  await cutOffRequest(Number(port));
  expect(await deliver('1', first)).toBe(204);
  expect(await deliver('2', second)).toBe(204);
  expect(await deliver('3', first, second)).toBe(401);
  expect(await withRedis(redis, (client) => client.lrange(queue, 0, -1))).toEqual([second, first]);
});
