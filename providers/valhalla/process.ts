/**
 * The process of the embedded Valhalla. Its parent kills it past a deadline, because native code cannot be interrupted
 * otherwise, and starts another one when it crashes.
 */
import { becomeHelper, sendToParent, yieldToOthers } from '../../schemas/helper-process.js';
import { type Actor, openActor } from './actor.js';
import type { ProcessAnswer, ProcessMessage } from './child.js';

let actor: Promise<Actor> | undefined;

becomeHelper();
process.on('disconnect', () => process.exit(0));
process.on('message', (message) => void work(message as ProcessMessage));
yieldToOthers();

async function work({ id, tilesFolder, action, request }: ProcessMessage): Promise<void> {
  actor ??= openActor(tilesFolder);
  const answer: ProcessAnswer = { id, result: await (await actor)(action, request) };
  sendToParent(answer);
}
