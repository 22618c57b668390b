/**
 * The process of the embedded Valhalla. Its parent kills it past a deadline, because native code cannot be interrupted
 * otherwise, and starts another one when it crashes.
 */
import { setPriority } from 'node:os';
import { type Actor, openActor } from './actor.js';
import type { ProcessAnswer, ProcessMessage } from './child.js';

const niceness = 5;
let actor: Promise<Actor> | undefined;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => void work(message as ProcessMessage));
try {
  setPriority(niceness);
} catch {
  // Some systems do not allow it.
}

async function work({ id, tilesFolder, action, request }: ProcessMessage): Promise<void> {
  actor ??= openActor(tilesFolder);
  const answer: ProcessAnswer = { id, result: await (await actor)(action, request) };
  process.send?.(answer);
}
