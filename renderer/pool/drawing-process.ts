/** The drawing process. The pool starts it, and its first message names the archive. It ends with the pool. */
import { ApiError } from '../../schemas/errors.js';
import { fileProblem } from '../../schemas/file-problem.js';
import { becomeHelper, sendToParent, yieldToOthers } from '../../schemas/helper-process.js';
import { createMapRenderer, type MapRenderer } from '../map.js';
import { createArchiveFetcher } from '../sources/guarded.js';
import type { Answer, ProcessStart, Result, Task } from './messages.js';
import { createProcessorTime } from './processor-time.js';

const processorTime = createProcessorTime();

becomeHelper();
process.on('disconnect', exit);
process.once('message', (message) => void serve(message as ProcessStart));
yieldToOthers();

async function serve({ userAgent, archiveTimeoutMs, ...options }: ProcessStart): Promise<void> {
  let renderer: MapRenderer;
  try {
    const { fetchBytes } = createArchiveFetcher(userAgent, archiveTimeoutMs);
    renderer = await createMapRenderer({ ...options, fetchBytes, mayBake: false });
  } catch (error) {
    answer({ kind: 'unusable', reason: fileProblem(error) });
    return;
  }
  process.off('disconnect', exit);
  process.on('disconnect', () => void renderer.close().finally(exit));
  process.on('message', (message) => void work(renderer, message as Task));
  answer({ kind: 'ready', found: renderer.found });
}

async function work(renderer: MapRenderer, task: Task): Promise<void> {
  const { id } = task;
  processorTime.start(id);
  try {
    const result = await resultOf(renderer, task);
    answer({ kind: 'done', id, result, processorMs: processorTime.end(id) });
  } catch (error) {
    answer({ kind: 'failed', id, ...failureOf(error), processorMs: processorTime.end(id) });
  }
}

const failureOf = (error: unknown) =>
  error instanceof ApiError
    ? { reason: error.message, code: error.code }
    : { reason: (error as Error).stack ?? String(error) };

async function resultOf(renderer: MapRenderer, task: Task): Promise<Result> {
  if (task.kind === 'draw') return renderer.render(task.request, task.icons, task.style, task.sprites);
  if (task.kind === 'checkSprites') return renderer.checkSprites(task.style, task.sprites);
  if (task.kind === 'checkStyle') return renderer.checkStyle(task.style);
  if (task.kind === 'webStyle') return renderer.webStyle(task.name, task.language, task.style);
  if (task.kind === 'webFile') return renderer.webFile(task.request);
  throw new TypeError(`a drawing process does not ${task.kind}`);
}

function answer(message: Answer): void {
  sendToParent(message);
}

function exit(): void {
  process.exit(0);
}
