/**
 * Durations of test files: the report of a run, and the order of the next one.
 *
 * `test/durations.json` holds milliseconds per project and file, longest first. `npm run test:durations` brings it up
 * to date. The longest files start first, so that no worker is left alone with a long file at the end.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Reporter, TestModule, TestSpecification } from 'vitest/node';
import { BaseSequencer } from 'vitest/node';

type Durations = Record<string, Record<string, number>>;

const file = fileURLToPath(new URL('../../test/durations.json', import.meta.url));
const shownFiles = 12;

function readDurations(): Durations {
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
}

/** Returns the milliseconds that a file kept its worker busy. */
function durationOf(module: TestModule): number {
  const { collectDuration, setupDuration, duration } = module.diagnostic();
  return Math.round(collectDuration + setupDuration + duration);
}

const isPassed = (module: TestModule): boolean => module.state() === 'passed';

/**
 * Sorts files by their recorded duration, longest first. Files without a record come before all others.
 *
 * One project comes after the other. A worker's process ends when the next file in the queue belongs to another
 * project, and the process after it loads all modules again.
 */
export class LongestFirst extends BaseSequencer {
  readonly #durations = readDurations();

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const duration = ({ project, testModule, moduleId }: TestSpecification): number => {
      const path = testModule?.relativeModuleId ?? moduleId.slice(project.config.root.length + 1);
      return this.#durations[project.name]?.[path] ?? Number.POSITIVE_INFINITY;
    };
    const groupOf = ({ project }: TestSpecification): number => project.config.sequence.groupOrder;
    const longestOf = ({ project }: TestSpecification): number =>
      Math.max(0, ...Object.values(this.#durations[project.name] ?? {}));
    return files.toSorted((a, b) => {
      if (groupOf(a) !== groupOf(b)) return groupOf(a) - groupOf(b);
      if (a.project !== b.project) return longestOf(b) - longestOf(a);
      const [first, second] = [duration(a), duration(b)];
      return first === second ? 0 : second - first;
    });
  }
}

/** Prints the slowest files of a run, and writes all durations where TEST_DURATIONS=write asks for it. */
export class DurationsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const rows = modules
      .map((module) => ({
        project: module.project.name,
        path: module.relativeModuleId,
        ms: durationOf(module),
        module,
      }))
      .sort((a, b) => b.ms - a.ms);
    if (rows.length > 1) {
      console.log(`\n Slowest files of ${rows.length}:`);
      for (const { project, path, ms } of rows.slice(0, shownFiles))
        console.log(`  ${(ms / 1_000).toFixed(1).padStart(6)} s  ${project}  ${path}`);
    }
    if (process.env.TEST_DURATIONS !== 'write') return;
    const durations = readDurations();
    // A file that failed or was skipped says nothing about its usual duration.
    for (const { project, path, ms, module } of rows) {
      if (!isPassed(module)) continue;
      durations[project] ??= {};
      durations[project][path] = ms;
    }
    writeFileSync(file, `${JSON.stringify(sorted(durations), undefined, 2)}\n`);
  }
}

/** Without files that no longer exist. */
const sorted = (durations: Durations): Durations =>
  Object.fromEntries(
    Object.entries(durations).map(([project, files]) => [
      project,
      Object.fromEntries(
        Object.entries(files)
          .filter(([path]) => existsSync(fileURLToPath(new URL(`../../${path}`, import.meta.url))))
          .sort(([, a], [, b]) => b - a),
      ),
    ]),
  );
