/**
 * Starts a Redis in the folder that its argument names, prints the port and waits to be ended: `services.test.ts` looks
 * at what is left.
 */
import { startRedis } from './redis.js';

process.env.TMPDIR = process.argv[2];
const { port } = await startRedis();
console.log(port);
setInterval(() => {}, 60_000);
