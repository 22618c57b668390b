/**
 * The icon process. It decodes untrusted icons one after the other. The pool kills it past a deadline, and it kills
 * itself when an icon takes too much memory. Decoding runs on other threads, so the main thread can watch the memory.
 */
import { becomeHelper, sendToParent, yieldToOthers } from '../../schemas/helper-process.js';
import { rasterizeIcon } from '../icons/rasterize.js';
import type { Answer, Task } from './messages.js';
import { createProcessorTime } from './processor-time.js';

/** Limit of the whole process. It uses 100 MB with an ordinary icon, most of it for the program. */
const maxMemoryBytes = 400 * 2 ** 20;
const watchEveryMs = 20;

const processorTime = createProcessorTime();

becomeHelper();
process.on('disconnect', () => process.exit(0));
process.once('message', () => {
  process.on('message', (message) => void work(message as Task));
  answer({ kind: 'ready' });
});
yieldToOthers();

async function work(task: Task): Promise<void> {
  const { id } = task;
  if (task.kind !== 'rasterizeIcon')
    return answer({ kind: 'failed', id, reason: `an icon process does not ${task.kind}`, processorMs: 0 });
  processorTime.start(id);
  const watch = setInterval(
    () => process.memoryUsage.rss() > maxMemoryBytes && process.kill(process.pid, 'SIGKILL'),
    watchEveryMs,
  );
  const result = await rasterizeIcon(task.file, task.scale);
  clearInterval(watch);
  answer({ kind: 'done', id, result, processorMs: processorTime.end(id) });
}

function answer(message: Answer): void {
  sendToParent(message);
}
