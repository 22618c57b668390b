/** `npm run bench -- [OPTION…]`: runs cases, prints their figures, stores them, and draws the page of benchmarks. */
import type { BenchCase, Row } from './case.js';
import { abuseCase } from './cases/abuse.js';
import { catalogCase } from './cases/catalog.js';
import { clusterCase } from './cases/cluster.js';
import { dashboardMapCase } from './cases/dashboard-map.js';
import { endToEndCase } from './cases/end-to-end.js';
import { engineCases } from './cases/engines.js';
import { evaluationCase } from './cases/evaluation.js';
import { growthCase } from './cases/growth.js';
import { importCase } from './cases/import.js';
import { latencyCase } from './cases/latency.js';
import { mapsCase } from './cases/maps.js';
import { mapsSoakCase } from './cases/maps-soak.js';
import { memorySoakCase } from './cases/memory-soak.js';
import { trackCase } from './cases/track.js';
import { waitingDeliveriesCase, webhooksCase } from './cases/webhooks.js';
import { environment, environmentLine } from './environment.js';
import { type Command, help, readCommand } from './options.js';
import { peers } from './peers/all.js';
import { publish } from './publish.js';
import { keep, table } from './report.js';

const published: readonly BenchCase[] = [...engineCases, latencyCase, growthCase];
const cases: readonly BenchCase[] = [
  ...published,
  evaluationCase,
  endToEndCase,
  trackCase,
  abuseCase,
  catalogCase,
  importCase,
  webhooksCase,
  waitingDeliveriesCase,
  mapsCase,
  mapsSoakCase,
  dashboardMapCase,
  memorySoakCase,
  clusterCase,
];

async function list(): Promise<string> {
  const width = Math.max(...cases.map(({ name }) => name.length));
  const missing = await Promise.all(peers.map((peer) => peer.lacking()));
  return [
    'Cases:',
    ...cases.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`),
    'Peers:',
    ...peers.map(({ name, about, install }, index) => {
      const state =
        missing[index] === undefined
          ? ''
          : `\n  ${''.padEnd(width)}  missing: ${missing[index]}. Install it: ${install}`;
      return `  ${name.padEnd(width)}  ${about}${state}`;
    }),
  ].join('\n');
}

async function run({ names, options, publish: isPublished }: Extract<Command, { kind: 'run' }>): Promise<void> {
  const here = environment(options.size);
  console.log(environmentLine(here));
  const results: Record<string, Row[]> = {};
  let file = '';
  for (const { name, about, run } of cases.filter(({ name }) => names.includes(name))) {
    console.log(`\n${name}: ${about}`);
    const rows = await run(options);
    results[name] = rows;
    console.log(table(rows));
    // After each case, so that a long run that is ended keeps what it has measured.
    if (options.smoke) continue;
    file = keep(here, results);
    console.log(`\nstored in ${file}`);
  }
  if (isPublished) publish(file);
}

const command = readCommand(process.argv.slice(2), {
  cases: cases.map(({ name }) => name),
  smoke: cases.filter(({ isLong }) => !isLong).map(({ name }) => name),
  published: published.map(({ name }) => name),
  peers: peers.map(({ name }) => name),
});
switch (command.kind) {
  case 'help':
    console.log(help);
    break;
  case 'list':
    console.log(await list());
    break;
  case 'problem':
    console.error(`${command.problem}\nnpm run bench -- --help lists the options`);
    process.exit(2);
    break;
  case 'run':
    await run(command);
    break;
  case 'page':
    publish(command.results);
    break;
}
process.exit(0);
