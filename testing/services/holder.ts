/**
 * Starts a Redis in the folder of its argument, prints the port and waits to be killed. `services.test.ts` checks what
 * is left.
 */
import { startRedis } from './redis.js';

process.env.TMPDIR = process.argv[2];
const { port } = await startRedis();
console.log(port);
setInterval(() => {}, 60_000);
