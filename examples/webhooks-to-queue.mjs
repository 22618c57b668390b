// Webhooks to a queue: verifies each delivery, and puts it into a list in Redis once, however often it arrives.
//
//   WEBHOOK_SECRET=whsec_… node examples/webhooks-to-queue.mjs
//
// Needs the packages ioredis and standardwebhooks. REDIS is the server, by default redis://127.0.0.1:6379. A worker
// takes deliveries with "BLMOVE events working RIGHT LEFT 0".
//
// The answer to this request has the secret. Fenceline refuses loopback addresses unless it is started with
// FENCELINE_WEBHOOKS_ALLOWED_NETWORKS=127.0.0.1/32:
//
//   curl "$FENCELINE/v1/webhooks" -H "Authorization: $SK" -d url=http://127.0.0.1:8090/
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { Redis } from 'ioredis';
import { Webhook } from 'standardwebhooks';

const redis = new Redis(process.env.REDIS ?? 'redis://127.0.0.1:6379');
const webhook = new Webhook(process.env.WEBHOOK_SECRET);
const queue = process.env.QUEUE ?? 'events';
/** Longer than Fenceline repeats a delivery. */
const rememberSeconds = 7 * 24 * 60 * 60;

/** Both commands happen, or neither. A delivery that is known already is not queued again. */
const addOnce = `
  if redis.call('SET', KEYS[2], '1', 'NX', 'EX', ARGV[2]) then return redis.call('LPUSH', KEYS[1], ARGV[1]) end
  return 0`;

const server = createServer(async (request, response) => {
  let body;
  try {
    body = await text(request);
    webhook.verify(body, request.headers);
  } catch {
    // Somebody else, a wrong secret, or a request that was cut off. Fenceline tries again.
    return response.writeHead(401).end();
  }
  try {
    const known = `${queue}:known:${request.headers['webhook-id']}`;
    const length = await redis.eval(addOnce, 2, queue, known, body, rememberSeconds);
    console.log(length === 0 ? 'known' : 'queued', request.headers['webhook-id']);
    response.writeHead(204).end();
  } catch (error) {
    // The queue is down. Fenceline tries again, for 28 hours.
    response.writeHead(503).end(error.message);
  }
});
server.listen(Number(process.env.PORT ?? 8090), '127.0.0.1', () => console.log('listening on', server.address().port));
