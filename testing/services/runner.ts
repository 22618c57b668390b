/** Runs the files of the cluster project, or shows each as one skipped test if the services are missing. */
import { TestRunner, test } from 'vitest';
import { services } from './services.js';

/** Vitest's runner, which imports no test file while services are missing. */
export default class ClusterRunner extends TestRunner {
  override importFile(path: string, source: 'collect' | 'setup'): unknown {
    if (source === 'setup' || services()) return super.importFile(path, source);
    return test.skip('needs services that are not here');
  }
}
