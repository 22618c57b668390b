/**
 * Appends the processor time of each test file to the file that TEST_PROCESSOR_TIMES names: seconds, project, path.
 *
 * Unlike a duration, it hardly depends on what else the machine does. It counts the imports and tests of the file, and
 * processes that the file started and that have ended, but not the shared server. It requires Linux.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { afterAll } from 'vitest';

const ticksPerSecond = 100;

/** Returns the seconds of this process and of its ended children, in user and system mode. */
function processorSeconds(): number {
  const [, fields = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const ticks = fields.split(' ').slice(11, 15);
  return ticks.reduce((sum, each) => sum + Number(each), 0) / ticksPerSecond;
}

const report = process.env.TEST_PROCESSOR_TIMES;
if (report) {
  // Files share the process of their worker, which has already used some.
  const before = processorSeconds();
  // Hooks of setup files run last.
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern of fixtures before the suite.
  afterAll(({}, { file }) => {
    const seconds = (processorSeconds() - before).toFixed(2);
    appendFileSync(report, `${seconds}\t${file.projectName}\t${file.name}\n`);
  });
}
