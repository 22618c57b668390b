/**
 * `npm run bench -- [CASE…] [--smoke] [--minutes N] [--tile38 HOST:PORT] [--staticmaps NODE_MODULES]`: runs the cases,
 * prints their figures and stores them.
 */
import { parseArgs } from 'node:util';
import type { BenchCase, Row } from './case.js';
import { abuseCase } from './cases/abuse.js';
import { catalogCase } from './cases/catalog.js';
import { clusterCase } from './cases/cluster.js';
import { dashboardMapCase } from './cases/dashboard-map.js';
import { endToEndCase } from './cases/end-to-end.js';
import { evaluationCase } from './cases/evaluation.js';
import { importCase } from './cases/import.js';
import { mapsCase } from './cases/maps.js';
import { mapsSoakCase } from './cases/maps-soak.js';
import { memorySoakCase } from './cases/memory-soak.js';
import { trackCase } from './cases/track.js';
import { waitingDeliveriesCase, webhooksCase } from './cases/webhooks.js';
import { environment, environmentLine } from './environment.js';
import { keep, table } from './report.js';

const cases: readonly BenchCase[] = [
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

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    smoke: { type: 'boolean', default: false },
    minutes: { type: 'string' },
    tile38: { type: 'string' },
    staticmaps: { type: 'string' },
  },
});
const unknown = positionals.filter((name) => !cases.some((known) => known.name === name));
if (unknown.length > 0) {
  console.error(`unknown case ${unknown.join(', ')}; there are ${cases.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const { smoke, tile38, staticmaps } = values;
const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
if (minutes !== undefined && !(minutes > 0)) {
  console.error('--minutes requires a number above 0');
  process.exit(2);
}
const chosen = positionals.length > 0 ? cases.filter(({ name }) => positionals.includes(name)) : cases;

const here = environment();
console.log(environmentLine(here));
const results: Record<string, Row[]> = {};
for (const { name, about, run } of chosen) {
  console.log(`\n${name}: ${about}`);
  const rows = await run({ smoke, tile38, staticmaps, minutes });
  results[name] = rows;
  console.log(table(rows));
}
if (!smoke) console.log(`\nstored in ${keep(here, results)}`);
process.exit(0);
