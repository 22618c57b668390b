/** `npm run bench -- [CASE…] [--smoke] [--tile38 HOST:PORT]`: runs the cases, prints their figures, keeps them. */
import { parseArgs } from 'node:util';
import type { BenchCase, Row } from './case.js';
import { catalogCase } from './cases/catalog.js';
import { clusterCase } from './cases/cluster.js';
import { endToEndCase } from './cases/end-to-end.js';
import { evaluationCase } from './cases/evaluation.js';
import { mapsCase } from './cases/maps.js';
import { trackCase } from './cases/track.js';
import { waitingDeliveriesCase, webhooksCase } from './cases/webhooks.js';
import { environment, environmentLine } from './environment.js';
import { keep, table } from './report.js';

const cases: readonly BenchCase[] = [
  evaluationCase,
  endToEndCase,
  trackCase,
  catalogCase,
  webhooksCase,
  waitingDeliveriesCase,
  mapsCase,
  clusterCase,
];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { smoke: { type: 'boolean', default: false }, tile38: { type: 'string' } },
});
const unknown = positionals.filter((name) => !cases.some((known) => known.name === name));
if (unknown.length > 0) {
  console.error(`unknown case ${unknown.join(', ')}; there are ${cases.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
const chosen = positionals.length > 0 ? cases.filter(({ name }) => positionals.includes(name)) : cases;

const here = environment();
console.log(environmentLine(here));
const results: Record<string, Row[]> = {};
for (const { name, about, run } of chosen) {
  console.log(`\n${name}: ${about}`);
  const rows = await run({ smoke: values.smoke, tile38: values.tile38 });
  results[name] = rows;
  console.log(table(rows));
}
if (!values.smoke) console.log(`\nkept in ${keep(here, results)}`);
process.exit(0);
