/**
 * `fenceline repair positions`: moves stored positions to offsets that the log has, after it lost records or was
 * restored from a backup.
 */
import { topics } from '../../pipeline/ports.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import type { Configuration } from '../../server/config/schema.js';
import {
  type Finding,
  lacksPositions,
  type Repair,
  type RepairableBackend,
  repairByNode,
  repairOf,
} from '../../server/repair-positions.js';
import { CommandFailure, type Run, UsageError, type Values } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { wholeNumber } from '../numbers.js';

/** An offset that the operator chose for one partition. */
interface Named {
  /** Undefined: all groups that read the partition. */
  readonly group: string | undefined;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

/** The last one of a topic with the maximum of the setting `locations.partitions`. */
const maxPartition = 1_023;

type OpenBackend = RepairableBackend & { close(): Promise<void> };

interface OpenRepair extends Repair {
  /** Whether a node certainly runs on these positions. Of a cluster nobody can tell. */
  readonly isOfNode: boolean;
  close(): Promise<void>;
}

const consequences = `
Consequences of a move:
- Records that the log lost are gone. Changes that lost locations made to device states remain, and so do events that
  are still on their topic.
- Records from the new position on are applied. Records that were never read are applied once. Records that were read
  before the loss and are still in the log are applied again: a location with a device time is then a repeat and changes
  nothing.
- Events and rows keep their ids. Webhooks may get deliveries of events once more.
`;

const noPositions =
  'No position is stored, and the log has records: the store is empty, or was not restored. ' +
  'Nodes would read the log from its beginning, as if each device were new. Restore the backup before they start.';

const undone = `- A running process with role analytics keeps positions of ${analyticsSinkGroup} that match the log, and
  undoes such a move. Stop all of these processes first.
`;

/** Returns whether a running owner would not notice the move. Without a claim, it looks for moves only when halted. */
const isUndone = ({ group, divergence }: Finding): boolean => group === analyticsSinkGroup && divergence === undefined;

/** Reports positions that the log does not have, and moves them if `--yes` is given. Exits with 1 while some remain. */
export const run: Run<OptionsOf<'repair'>> = async (values, [what, ...rest]) => {
  if (what !== 'positions' || rest.length > 0) throw new UsageError('repair requires one word: positions');
  const named = namedOffset(values);
  const { configuration } = configurationFrom({ config: values.config, data: values.data });
  const repair = await open(configuration);
  let isWhole = false;
  try {
    isWhole = await compareAndMove(repair, values.yes === true, named);
  } finally {
    await repair.close();
  }
  if (!isWhole) process.exitCode = 1;
};

function namedOffset({ group, topic, partition, offset }: Values<OptionsOf<'repair'>>): Named | undefined {
  const given = [group, topic, partition, offset].filter((each) => each !== undefined);
  if (given.length === 0) return undefined;
  if (topic === undefined || partition === undefined || offset === undefined)
    throw new UsageError('--topic, --partition and --offset are required together');
  return {
    group,
    topic,
    partition: wholeNumber('partition', partition, { least: 0, most: maxPartition }),
    offset: wholeNumber('offset', offset, { least: 0, most: Number.MAX_SAFE_INTEGER }),
  };
}

async function open(configuration: Configuration): Promise<OpenRepair> {
  if (configuration.backend === 'cluster') {
    const { openCluster } = await import('../../backends/cluster/cluster.js');
    const onProblem = (message: string) => console.error(message);
    return repairOn(await openCluster({ ...clusterOptionsOrRefuse(configuration), onProblem }));
  }
  const [{ isLocked }, { requireDataFolder }, { refuseUnusableFiles }] = await Promise.all([
    import('../../backends/embedded/folder-lock.js'),
    import('../../server/data-folder/existing-folder.js'),
    import('../../server/data-folder/unusable.js'),
  ]);
  const { data } = configuration;
  refuseUnusableFiles(data);
  requireDataFolder(data);
  if (await isLocked(data)) return { ...repairByNode(data), isOfNode: true, close: async () => {} };
  return repairOn(await openStopped(configuration));
}

const repairOn = (backend: OpenBackend): OpenRepair => ({
  ...repairOf(backend),
  isOfNode: false,
  close: () => backend.close(),
});

/** Opens the folder, on which no node can start until it is closed. */
async function openStopped(configuration: Configuration): Promise<OpenBackend> {
  const [{ openBackend }, { createSpace }, { openLogReader }, { lockFolder }] = await Promise.all([
    import('../../server/data-folder/folders.js'),
    import('../../backends/embedded/space.js'),
    import('../../backends/embedded/reader.js'),
    import('../../server/data-folder/lock.js'),
  ]);
  const lock = await lockFolder(configuration.data);
  // The number of partitions is read from the folder, so the command works without the node's configuration.
  const reader = await openLogReader(configuration.data);
  const partitions = reader.partitions(topics.locations);
  await reader.close();
  const asStored = { ...configuration, locations: { ...configuration.locations, partitions } };
  const backend = openBackend(asStored, createSpace(), 'wait');
  return {
    ...backend,
    async close() {
      await backend.close();
      lock.release();
    },
  };
}

/** Returns whether all positions match the log in the end. */
async function compareAndMove(repair: OpenRepair, isConfirmed: boolean, named: Named | undefined): Promise<boolean> {
  const found = await repair.findings();
  const wanted = found.filter((each) => (named === undefined ? each.divergence !== undefined : isNamed(each, named)));
  if (named !== undefined && wanted.length === 0)
    throw new UsageError(`${readerOf(named)} reads partition ${named.partition} of topic ${named.topic}`);
  for (const each of wanted) refuseOffsetBeyondLog(each, named);
  const divergent = found.filter(({ divergence }) => divergence !== undefined);
  console.log(`${found.length} positions compared, ${divergent.length} do not match the log`);
  for (const each of wanted) console.log(lineOf(each, targetOf(each, named)));
  if (named === undefined && lacksPositions(found)) {
    console.log(noPositions);
    return false;
  }
  if (wanted.length === 0) return true;
  console.log(consequences);
  if (wanted.some(isUndone)) console.log(undone);
  if (!isConfirmed) {
    console.log('Nothing was changed. Run the command again with --yes to move the positions.');
    return divergent.length === 0;
  }
  if (repair.isOfNode && wanted.some(isUndone))
    throw new CommandFailure('a node runs on this data folder and would undo the move; stop it first');
  let isWhole = divergent.every((each) => wanted.includes(each));
  for (const each of wanted) isWhole = (await move(repair, each, targetOf(each, named))) && isWhole;
  return isWhole;
}

/** There, the position would not match the log. Before the beginning it does: reading begins with what is left. */
function refuseOffsetBeyondLog({ topic, partition, end }: Finding, named: Named | undefined): void {
  if (named !== undefined && named.offset > end)
    throw new UsageError(`--offset must be at most ${end}, the end of partition ${partition} of topic ${topic}`);
}

async function move(repair: Repair, each: Finding, target: number | null): Promise<boolean> {
  const name = nameOf(each);
  if (target === null) {
    console.error(
      `${name}: the end of the common history is unknown; choose an offset with --topic, --partition and --offset`,
    );
    return false;
  }
  const { group, topic, partition } = each;
  const result = await repair.move({ group, topic, partition, offset: target });
  if (result === 'moved') console.log(`${name}: moved from ${each.position.offset} to ${target}`);
  else console.error(`${name}: other processes kept claiming the partition; run the command again`);
  return result === 'moved';
}

const isNamed = (each: Finding, { group, topic, partition }: Named): boolean =>
  (group === undefined || each.group === group) && each.topic === topic && each.partition === partition;

const readerOf = ({ group }: Named): string => (group === undefined ? 'no group' : `no group "${group}"`);

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
  const state = `stored ${position.offset} (${mark}), the log has ${first} to ${end}${other}`;
  return `  ${nameOf(each)}: ${state}; move to ${target ?? 'an offset of your choice'}`;
}
