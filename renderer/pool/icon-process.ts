/**
 * A process that decodes the icons of strangers, one after the other: started by the pool, ended by it past a deadline,
 * and by itself when an icon takes too much memory. Decoding runs on other threads of the process, so this one can
 * watch.
 */
import { setPriority } from 'node:os';
import { rasterizeIcon } from '../icons/rasterize.js';
import type { Answer, Task } from './messages.js';
import { createProcessorTime } from './processor-time.js';

const niceness = 5;
/** Of the whole process; an ordinary icon needs 100 MB, of which most is the program. */
const maxMemoryBytes = 400 * 2 ** 20;
const watchEveryMs = 20;

const processorTime = createProcessorTime();

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});
process.on('disconnect', () => process.exit(0));
process.once('message', () => {
  process.on('message', (message) => void work(message as Task));
  answer({ kind: 'ready' });
});
try {
  setPriority(niceness);
} catch {
  // Not every system lets a process say so.
}

async function work(task: Task): Promise<void> {
  const { id } = task;
  if (task.kind !== 'rasterizeIcon')
    return answer({ kind: 'failed', id, reason: `a process for icons does not ${task.kind}` });
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
  process.send?.(message);
}
