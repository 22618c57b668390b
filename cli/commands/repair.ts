/**
 * `fenceline repair positions`: moves stored positions onto the log that there is, after the log has lost records or
 * was put back.
 */
import { parseArgs } from 'node:util';
import { topics } from '../../pipeline/ports.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import type { Configuration } from '../../server/config/schema.js';
import { type Finding, findings, moveTo, type RepairableBackend } from '../../server/repair-positions.js';
import { type Command, UsageError } from '../command.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

const { config, data } = configurationOptions;
const options = {
  config,
  data,
  yes: { type: 'boolean' },
  topic: { type: 'string' },
  partition: { type: 'string' },
  offset: { type: 'string' },
} as const;

/** An offset that the operator names for the readers of one partition. */
interface Named {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

type OpenBackend = RepairableBackend & { close(): Promise<void> };

const consequences = [
  'What a move means: records that the log lost are gone. What locations among them did to device states stays, and events that are still on their topic',
  'stay published. Records from the new position on are applied: those that were never read, once; those that were read before the loss and are still in',
  'the log, again. A location that was applied before is then a repeat and changes nothing, if its device sent a time. Events and rows keep their ids;',
  'webhooks may get deliveries of events once more.',
];

export const repairCommand: Command = {
  usage: 'repair positions [--yes] [--topic TOPIC --partition N --offset N] [--data DIR] [--config FILE]',
  summary:
    'Shows which stored positions the log does not lead to, after it lost records or was put back; with --yes, moves them. Nodes may run.',
  async run([what, ...args]) {
    if (what !== 'positions') throw new UsageError('repair takes one word: positions');
    const { values } = parseArgs({ args, options });
    const named = namedOffset(values);
    const { configuration } = configurationOrExit({ config: values.config, data: values.data });
    const backend = await open(configuration);
    let isWhole = false;
    try {
      isWhole = await repair(backend, values.yes === true, named);
    } finally {
      await backend.close();
    }
    // kafkajs keeps the process for as long as a connection that it has given up is open.
    process.exit(isWhole ? 0 : 1);
  },
};

function namedOffset({
  topic,
  partition,
  offset,
}: {
  topic?: string;
  partition?: string;
  offset?: string;
}): Named | undefined {
  if (topic === undefined && partition === undefined && offset === undefined) return undefined;
  const named = {
    topic: topic ?? '',
    partition: Number(partition ?? Number.NaN),
    offset: Number(offset ?? Number.NaN),
  };
  const isWhole =
    Number.isInteger(named.partition) && Number.isInteger(named.offset) && named.partition >= 0 && named.offset >= 0;
  if (!isWhole || topic === undefined)
    throw new UsageError('--topic, --partition and --offset belong together; the last two are whole numbers');
  return named;
}

async function open(configuration: Configuration): Promise<OpenBackend> {
  if (configuration.backend === 'cluster') {
    const { openCluster } = await import('../../backends/cluster/cluster.js');
    return openCluster({ ...clusterOptionsOrRefuse(configuration), onProblem: (message) => console.error(message) });
  }
  const [{ openBackend }, { createSpace }, { hasLog, openLogReader }] = await Promise.all([
    import('../../server/data-folder/folders.js'),
    import('../../backends/embedded/space.js'),
    import('../../backends/embedded/reader.js'),
  ]);
  if (!hasLog(configuration.data))
    throw new UsageError(`${configuration.data} holds no data of Fenceline: name its folder with --data`);
  // The folder knows their number: the command needs no configuration of the node.
  const reader = openLogReader(configuration.data);
  const partitions = reader.partitions(topics.locations);
  await reader.close();
  return openBackend(
    { ...configuration, locations: { ...configuration.locations, partitions } },
    createSpace(),
    'wait',
  );
}

/** Answers whether every position leads to the log in the end. */
async function repair(backend: OpenBackend, isMeant: boolean, named: Named | undefined): Promise<boolean> {
  const found = await findings(backend);
  const wanted = found.filter((each) => (named === undefined ? each.divergence !== undefined : isNamed(each, named)));
  if (named !== undefined && wanted.length === 0)
    throw new UsageError(`no group reads partition ${named.partition} of topic ${named.topic}`);
  console.log(
    `${found.length} positions compared, ${found.filter(({ divergence }) => divergence !== undefined).length} do not lead to the log`,
  );
  for (const each of wanted) console.log(lineOf(each, targetOf(each, named)));
  if (wanted.length === 0) return true;
  console.log(['', ...consequences, ''].join('\n'));
  if (!isMeant) {
    console.log('Nothing was changed. Run this again with --yes to move the positions.');
    return false;
  }
  let isWhole = true;
  for (const each of wanted) isWhole = (await move(backend, each, targetOf(each, named))) && isWhole;
  return isWhole;
}

async function move(backend: OpenBackend, each: Finding, target: number | null): Promise<boolean> {
  const name = nameOf(each);
  if (target === null) {
    console.error(
      `${name}: the end of the common history cannot be told; name an offset with --topic, --partition and --offset`,
    );
    return false;
  }
  const result = await moveTo(backend, each, target);
  if (result === 'moved') console.log(`${name}: moved from ${each.position.offset} to ${target}`);
  else console.error(`${name}: other processes claimed the partition all the time; run this again`);
  return result === 'moved';
}

const isNamed = (each: Finding, { topic, partition }: Named): boolean =>
  each.topic === topic && each.partition === partition;

const targetOf = ({ divergence, position }: Finding, named: Named | undefined): number | null =>
  named?.offset ?? (divergence === undefined ? position.offset : divergence.commonEnd);

const nameOf = ({ group, topic, partition }: Finding): string => `${group}, topic ${topic}, partition ${partition}`;

function lineOf(each: Finding, target: number | null): string {
  const { position, first, end, divergence } = each;
  const other =
    divergence?.leaderEpoch === null || divergence === undefined
      ? ''
      : `, other records of leader epoch ${divergence.leaderEpoch}`;
  const mark = position.mark === null ? 'no mark' : `mark ${position.mark}`;
  return `  ${nameOf(each)}: stored ${position.offset} (${mark}), the log holds ${first} to ${end}${other}; move to ${target ?? 'an offset that you name'}`;
}
