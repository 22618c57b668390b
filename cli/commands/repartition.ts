/** `fenceline repartition`: increases the number of partitions of a stopped cluster. */
import type { Reader } from '../../backends/cluster/repartition/obstacles.js';
import { repartition } from '../../backends/cluster/repartition.js';
import { topics } from '../../pipeline/ports.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { locationStageGroup } from '../../pipeline/stages/locations/stage.js';
import { webhookStageGroup } from '../../pipeline/stages/webhooks/stage.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import { printable } from '../../server/terminal-text.js';
import { type Run, UsageError } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { wholeNumber } from '../numbers.js';

/** The maximum of the setting `locations.partitions`. */
const maxPartitions = 1_024;

const stored = [topics.outcomes, topics.events, topics.attempts, topics.rejections, topics.deadLetters];

const readers: readonly Reader[] = [
  { group: locationStageGroup, topic: topics.locations, positions: 'states' },
  { group: webhookStageGroup, topic: topics.events, positions: 'deliveries' },
  { group: webhookStageGroup, topic: topics.deliveries, positions: 'deliveries' },
  ...stored.map((topic): Reader => ({ group: analyticsSinkGroup, topic, positions: 'positions' })),
];

/** Increases the number of partitions of a stopped cluster. Exits with 1 and the reasons if it cannot. */
export const run: Run<OptionsOf<'repartition'>> = async (values) => {
  if (values.partitions === undefined) throw new UsageError('repartition requires --partitions, their new number');
  const to = wholeNumber('partitions', values.partitions, { least: 1, most: maxPartitions });
  const { configuration } = configurationFrom({ config: values.config });
  if (configuration.backend !== 'cluster')
    throw new UsageError('repartition requires a cluster: the number of partitions of a data folder is fixed');
  const { kafka, redis } = clusterOptionsOrRefuse(configuration);
  const onStep = (message: string): void => console.log(printable(message));
  const onProblem = (message: string): void => console.error(printable(message));
  const result = await repartition({ kafka, redis, readers, onStep, onProblem }, to);
  if (!result.ok) {
    for (const reason of result.reasons) console.error(printable(`fenceline: ${reason}`));
    process.exit(1);
  }
  console.log(`done: start the nodes with locations.partitions: ${to}, or FENCELINE_LOCATIONS_PARTITIONS=${to}`);
};
