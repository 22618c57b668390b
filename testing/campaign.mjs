// Repeats the kill and fault tests in their long form, and all properties with all their cases, with random seeds.
//
//   npm run test:faults                      5 rounds; with faults of a cluster where services are there
//   npm run test:faults -- --rounds 100      more rounds
//   npm run test:faults -- --seed 4711       one round with this seed
//   npm run test:faults -- --keep-going      does not stop at the first failed round
//   npm run test:faults -- --previous main   upgrades a cluster from this tag, branch or commit; by default from the
//                                            newest release
//
// Each round prints its seed. A failed round prints the command that repeats it.
import { spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { buildPrevious, newestRelease } from './previous-program.mjs';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    seed: { type: 'string' },
    previous: { type: 'string' },
    'keep-going': { type: 'boolean', default: false },
  },
});
const rounds = values.seed === undefined ? Number(values.rounds) : 1;
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number of at least 1');

const hasServices = process.env.TEST_SERVICES_KAFKA !== undefined || process.env.CI === 'true';
const projects = hasServices ? ['embedded', 'cluster'] : ['embedded'];
const files = ['test/kill/', 'test/contract/embedded-', 'test/cluster/faults/'];

const previous = hasServices ? (values.previous ?? newestRelease()) : undefined;
const previousProgram = previous && buildPrevious(previous);

const failedSeeds = [];
for (let round = 1; round <= rounds; round += 1) {
  const seed = values.seed ?? String(Math.floor(Math.random() * 1_000_000));
  console.log(`\nRound ${round} of ${rounds}, seed ${seed}, projects ${projects.join(' and ')}`);
  const args = ['vitest', 'run', ...projects.flatMap((project) => ['--project', project]), ...files];
  const env = { ...process.env, TEST_CAMPAIGN: '1', KILL_SEED: seed, FAULT_SEED: seed, PROPERTY_SEED: seed };
  if (previousProgram) env.PREVIOUS_PROGRAM = previousProgram;
  const runs = [['vitest', 'run', '--project', 'unit'], args];
  if (runs.every((run) => spawnSync('npx', run, { env, stdio: 'inherit' }).status === 0)) continue;
  failedSeeds.push(seed);
  console.log(`\nThe round with seed ${seed} failed. Repeat it with: npm run test:faults -- --seed ${seed}`);
  if (!values['keep-going']) break;
}
if (!hasServices)
  console.log(`\nLeft out: faults of a cluster, which require services: eval "$(.ci/services)" && npm run test:faults`);
else if (!previous) console.log('\nLeft out: upgrades of a cluster, because there is no release: see --previous');
console.log(failedSeeds.length === 0 ? '\nAll rounds passed.' : `\nFailed seeds: ${failedSeeds.join(', ')}`);
process.exitCode = failedSeeds.length === 0 ? 0 : 1;
