/** Ends a run with the names of the tests that failed: a log that is cut to its end still tells which. */
import type { Reporter, TestModule } from 'vitest/node';

const shownCharacters = 200;

/** Prints the names of the failed tests last. */
export class FailedReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const failures = modules.flatMap((module) => [...failuresOf(module)]);
    if (failures.length === 0) return;
    console.log('\n Failed:');
    for (const failure of failures) console.log(`  ${failure}`);
  }
}

function* failuresOf(module: TestModule): Iterable<string> {
  const file = `${module.project.name}  ${module.relativeModuleId}`;
  for (const { message } of module.errors()) yield `${file}: ${firstLine(message)}`;
  for (const test of module.children.allTests('failed'))
    yield `${file} > ${test.fullName}: ${firstLine(test.result().errors?.[0]?.message)}`;
  for (const suite of module.children.allSuites())
    for (const { message } of suite.errors()) yield `${file} > ${suite.fullName}: ${firstLine(message)}`;
}

const firstLine = (message = ''): string => message.split('\n', 1)[0]!.slice(0, shownCharacters);
