/**
 * `fenceline replay`: recorded locations once more through the geofences of now, or through proposed ones. Changes
 * nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { GeofenceInput } from '../../api/geofences/fields.js';
import type { ReadableLog } from '../../backends/embedded/reader.js';
import { configuredFor, readProjects } from '../../replay/configuration.js';
import { readProposal } from '../../replay/proposal.js';
import { prepareReplay } from '../../replay/replay.js';
import { Tally } from '../../replay/tally.js';
import { noTotals, sumOf } from '../../replay/totals.js';
import { createWorld } from '../../replay/world.js';
import type { Command } from '../command.js';
import { eventFormat } from '../replay/formats.js';
import { writeLines } from '../replay/lines.js';
import { openRecord } from '../replay/open.js';
import { createProgress } from '../replay/progress.js';
import {
  projectOf,
  type ReplayRequest,
  readGivenFile,
  readRequest,
  readSettingsFile,
  replayOptions,
} from '../replay/request.js';
import { summaryLines, totalLine } from '../replay/summary.js';
import { withRelativeTimes } from '../replay/times.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

const { config, data } = configurationOptions;
const options = { config, data, ...replayOptions };

const read = (args: string[]) => parseArgs({ args: withRelativeTimes(args), options }).values;
type Words = ReturnType<typeof read>;

export const replayCommand: Command = {
  usage:
    'replay [--from TIME] [--to TIME] [--warm-up DURATION] [--project ID] [--environment test|live] [--geofences FILE [--skip-invalid]]' +
    ' [--settings FILE] [--format summary|ndjson|csv] [--compare] [--data DIR] [--config FILE]',
  summary:
    'Runs recorded locations through the geofences of now or proposed ones and tells the events; changes nothing.',
  async run(args) {
    const nowMs = Date.now();
    const words = read(args);
    const request = readRequest(words, nowMs, process.stdout.isTTY ? 'summary' : 'ndjson');
    const geofences = words.geofences === undefined ? undefined : readGeofences(words.geofences, words['skip-invalid']);
    const { configuration } = configurationOrExit({ config: words.config, data: words.data });
    const record = await openRecord(configuration);
    const endIfAsked = hearSignals();
    try {
      await replay(record.log, words, request, geofences, endIfAsked);
    } finally {
      await record.close();
    }
  },
};

/** Each bad entry is told; the process ends with status 2 unless they may be left out. */
function readGeofences(path: string, skipInvalid: boolean): readonly GeofenceInput[] {
  const { geofences, problems } = readProposal(readGivenFile('geofences', path));
  for (const { where, message } of problems) console.error(`${path}, ${where}: ${message}`);
  if (problems.length > 0 && !skipInvalid) process.exit(2);
  return geofences;
}

async function replay(
  log: ReadableLog,
  words: Words,
  { environment, format, range, warmUpMs }: ReplayRequest,
  geofences: readonly GeofenceInput[] | undefined,
  endIfAsked: () => void,
): Promise<void> {
  const project = projectOf(await readProjects(log), words.project);
  const scope = { project: project._id, environment };
  const settings =
    words.settings === undefined ? undefined : readSettingsFile(words.settings, project.settings[environment]);
  const proposed = { ...(geofences && { geofences }), ...(settings && { settings }) };
  const world = await createWorld(between(configuredFor(log, project, scope, proposed), endIfAsked));

  const parts = { log, catalog: world.catalog, scope, range, ...(warmUpMs !== undefined && { warmUpMs }) };
  const { records, steps } = await prepareReplay(parts);
  const { header, lineOf } = eventFormat(format, words.compare);
  const progress = createProgress(process.stderr, records);
  const tally = new Tally();
  const startedAtMs = performance.now();
  let totals = noTotals;
  if (header !== undefined) await writeLines(process.stdout, [header]);
  for await (const step of steps()) {
    totals = sumOf(totals, step.totals);
    for (const event of step.events) tally.add(event);
    progress.add(step.totals.records);
    const lines = step.events.map(lineOf).filter((line) => line !== undefined);
    await writeLines(process.stdout, lines);
    // Signals are heard between steps only.
    await nextTurn();
    endIfAsked();
  }
  progress.end();
  await world.close();

  const account = { totals, tally, elapsedMs: performance.now() - startedAtMs, asked: { environment, range } };
  if (format === 'summary') await writeLines(process.stdout, summaryLines(account));
  else console.error(totalLine(account));
}

/**
 * Answers what ends the process if a signal asked for it. Called while nothing is being written: an end in the middle
 * of a transaction may take for ever.
 * The end of the process removes what is temporary. A reader of our output that has seen enough ends us as well.
 */
function hearSignals(): () => void {
  let status: number | undefined;
  process.once('SIGINT', () => {
    status = 130;
  });
  process.once('SIGTERM', () => {
    status = 143;
  });
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exit(0);
  });
  return () => {
    if (status !== undefined) process.exit(status);
  };
}

/** The items, and a call before each and after the last, when what was made of the one before is done. */
async function* between<Item>(items: AsyncIterable<Item>, call: () => void): AsyncGenerator<Item> {
  for await (const item of items) {
    call();
    yield item;
  }
  call();
}
