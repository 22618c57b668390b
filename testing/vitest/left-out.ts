/**
 * Ends a run with what it left out: each group of suites with the reason and the command that runs it. Tests that were
 * skipped without a known reason are listed as well, so that nothing is left out unnoticed.
 */
import type { Reporter, TestModule, Vitest } from 'vitest/node';
import { leftOutFiles, longFiles } from './long-files.js';

interface Absence {
  readonly suites: string;
  readonly reason: string;
  readonly command: string;
}

/** Why tests of a file may be skipped. The files themselves decide by the same conditions. */
const knownSkips: readonly (Omit<Absence, 'suites'> & { readonly files: RegExp })[] = [
  {
    files: /^renderer\/reference\/maplibre/,
    reason: 'Chromium takes minutes for it; the reference images show that no map has changed since it last ran',
    command: 'npm run test:styles',
  },
  {
    files: /^renderer\/basemap\/bake/,
    reason: 'baking takes six seconds of processor time; the reference images show that every bake draws the same',
    command: 'TEST_LONG=true npx vitest run --project unit renderer/basemap/bake',
  },
  {
    files: /^test\/browser\//,
    reason: 'no Chromium (CHROMIUM_PATH, /usr/bin/chromium-headless-shell or /usr/bin/chromium)',
    command: 'apt-get install chromium-headless-shell && npm run test:browser',
  },
  {
    files: /^test\/embedded\/disk-full/,
    reason: 'only root may mount a small disk',
    command: 'sudo npx vitest run --project embedded test/embedded/disk-full.test.ts',
  },
  {
    files: /^test\/(deploy|cluster)\/(monitoring|alerts)/,
    reason: 'no prometheus or promtool on the PATH',
    command: 'eval "$(.ci/services)" && npx vitest run --project embedded test/deploy/monitoring test/deploy/alerts',
  },
  {
    files: /^test\/end-to-end\/examples/,
    reason: 'no PostgreSQL',
    command: 'apt-get install postgresql && npx vitest run --project embedded test/end-to-end/examples.test.ts',
  },
  {
    files: /^test\/deploy\/helm/,
    reason: 'helm and kubeconform are not there, so the rendered chart was not checked',
    command: 'eval "$(.ci/kubernetes-tools)" && npx vitest run --project embedded test/deploy/helm.test.ts',
  },
  {
    files: /^test\/documentation\/mobile-snippets/,
    reason: 'a compiler or an SDK is not there, so the code for apps in the guides was not compiled',
    command:
      'eval "$(.ci/mobile-tools)" && npx vitest run --project embedded test/documentation/mobile-snippets.test.ts',
  },
  {
    files: /^test\/cluster\/clickhouse\/debian/,
    reason: 'no clickhouse-server on the PATH',
    command: 'eval "$(.ci/services)" && npm run test:all',
  },
  {
    files: /^test\/cluster\/faults\/upgrade/,
    reason: 'PREVIOUS_PROGRAM names no build of an earlier version',
    command:
      'PREVIOUS_PROGRAM=$(node testing/previous-program.mjs) ' +
      'npx vitest run --project cluster test/cluster/faults/upgrade',
  },
  {
    files: /^test\/cluster\/registry\/python/,
    reason: 'Python has no confluent-kafka (see above)',
    command: 'eval "$(.ci/services)" && npm run test:all',
  },
  {
    files: /^test\/cluster\/|^test\/(end-to-end|browser)\//,
    reason: 'a service is missing (see above)',
    command: 'eval "$(.ci/services)" && npm run test:all',
  },
];

/** Prints what a whole run left out. A run of chosen files prints nothing. */
export class LeftOutReporter implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  async onTestRunEnd(modules: readonly TestModule[]): Promise<void> {
    const all = (await this.#vitest?.globTestSpecifications()) ?? [];
    // A run of chosen files or tests leaves out the others on purpose.
    if (modules.length < all.length || this.#vitest?.config.testNamePattern) return;
    const projects = new Set(modules.map((module) => module.project.name));
    const absences = [...projectsLeftOut(projects), ...(projects.has('embedded') ? long() : []), ...skipped(modules)];
    if (absences.length === 0) return;
    console.log('\n Left out:');
    for (const { suites, reason, command } of absences) console.log(`  ${suites}: ${reason}\n    ${command}`);
  }
}

function* projectsLeftOut(projects: ReadonlySet<string>): Iterable<Absence> {
  if (projects.has('kafka')) return;
  if (!projects.has('embedded')) yield blackBox;
  if (!projects.has('browser')) yield browser;
  if (!projects.has('cluster')) yield cluster;
  yield otherKafka;
  if (process.env.TEST_CAMPAIGN === undefined) yield campaigns;
}

const blackBox: Absence = {
  suites: 'black-box tests on the embedded backend',
  reason: 'project embedded was not chosen',
  command: 'npm test',
};
const browser: Absence = {
  suites: 'browser tests (test/browser): the dashboard, the SDK and its maps',
  reason: 'they require Chromium, and take as much processor time as half of all other tests without services',
  command: 'npm run test:browser',
};
const cluster: Absence = {
  suites: 'cluster tests (test/cluster, and black-box tests on a cluster)',
  reason: 'they require Kafka, Redis, a schema registry and ClickHouse',
  command: 'eval "$(.ci/services)" && npm run test:all    # or with Docker: npm run test:all',
};
const otherKafka: Absence = {
  suites: 'tests that depend on the version of Kafka, on Kafka 4.1',
  reason: 'one run uses one version',
  command: 'eval "$(.ci/services)" && TEST_KAFKA_VERSION=4.1 npx vitest run --project kafka',
};
const campaigns: Absence = {
  suites: 'long random kill and fault campaigns',
  reason: 'they take from minutes to hours',
  command: 'npm run test:faults    # with services also on a cluster',
};

function* long(): Iterable<Absence> {
  for (const file of leftOutFiles())
    yield {
      suites: file,
      reason: `it takes long, and shorter tests guard the same area: ${longFiles[file]}`,
      command: `npx vitest run --project embedded ${file}    # TEST_LONG=true npm test runs all`,
    };
}

/** Files with skipped tests, by reason. */
function skipped(modules: readonly TestModule[]): Absence[] {
  const groups = new Map<string, { command: string; files: string[]; tests: number }>();
  for (const module of modules) {
    const count = [...module.children.allTests('skipped')].length;
    if (count === 0) continue;
    const path = module.relativeModuleId;
    const known = knownSkips.find(({ files }) => files.test(path));
    const reason = known?.reason ?? 'skipped by the file itself';
    const command = known?.command ?? `npx vitest run --project ${module.project.name} ${path}`;
    const group = groups.get(reason) ?? { command, files: [], tests: 0 };
    group.files.push(`${path} (${module.project.name})`);
    group.tests += count;
    groups.set(reason, group);
  }
  return [...groups].map(([reason, { command, files, tests }]) => ({
    suites: `${tests} tests of ${files.join(', ')}`,
    reason,
    command,
  }));
}
