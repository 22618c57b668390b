/** `fenceline repartition`: more partitions for a cluster that is stopped. */
import { parseArgs } from 'node:util';
import type { Reader } from '../../backends/cluster/repartition/obstacles.js';
import { repartition } from '../../backends/cluster/repartition.js';
import { topics } from '../../pipeline/ports.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { locationStageGroup } from '../../pipeline/stages/locations/stage.js';
import { webhookStageGroup } from '../../pipeline/stages/webhooks/stage.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import { type Command, UsageError } from '../command.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

const { config } = configurationOptions;
const options = { config, partitions: { type: 'string' } } as const;

/** As `locations.partitions` allows. */
const maxPartitions = 1_024;

const stored = [topics.outcomes, topics.events, topics.attempts, topics.rejections, topics.deadLetters];

const readers: readonly Reader[] = [
  { group: locationStageGroup, topic: topics.locations, positions: 'states' },
  { group: webhookStageGroup, topic: topics.events, positions: 'deliveries' },
  { group: webhookStageGroup, topic: topics.deliveries, positions: 'deliveries' },
  ...stored.map((topic): Reader => ({ group: analyticsSinkGroup, topic, positions: 'positions' })),
];

export const repartitionCommand: Command = {
  usage: 'repartition --partitions N [--config FILE]',
  summary:
    'Gives the topics of a cluster more partitions and moves the devices with them; every process must be stopped.',
  async run(args) {
    const { values } = parseArgs({ args, options });
    const to = partitionsOf(values.partitions);
    const { configuration } = configurationOrExit({ config: values.config });
    if (configuration.backend !== 'cluster')
      throw new UsageError('partitions of a data folder are fixed: repartition is for clusters');
    const { kafka, redis } = clusterOptionsOrRefuse(configuration);
    const onStep = (message: string): void => console.log(message);
    const onProblem = (message: string): void => console.error(message);
    const result = await repartition({ kafka, redis, readers, onStep, onProblem }, to);
    if (!result.ok) {
      for (const reason of result.reasons) console.error(`fenceline: ${reason}`);
      process.exit(1);
    }
    console.log(`done: start the nodes with locations.partitions: ${to}, or FENCELINE_LOCATIONS_PARTITIONS=${to}`);
  },
};

function partitionsOf(text: string | undefined): number {
  const partitions = Number(text);
  if (Number.isInteger(partitions) && partitions >= 1 && partitions <= maxPartitions) return partitions;
  throw new UsageError(`repartition takes --partitions, a whole number from 1 to ${maxPartitions}`);
}
