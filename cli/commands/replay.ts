/**
 * `fenceline replay`: evaluates recorded locations against the current or a proposed configuration. Changes nothing.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { GeofenceInput } from '../../api/geofences/fields.js';
import { openLogReader, type ReadableLog } from '../../backends/embedded/reader.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { createSecretCipher } from '../../pipeline/encryption.js';
import { openReplayCatalog } from '../../replay/catalog.js';
import { configuredFor, readErasures, readProjects } from '../../replay/configuration.js';
import { type Erased, erasedIn, nothingErased } from '../../replay/erased.js';
import { readProposal } from '../../replay/proposal.js';
import { prepareReplay } from '../../replay/replay.js';
import { Tally } from '../../replay/tally.js';
import { noTotals, sumOf } from '../../replay/totals.js';
import { onFirstSignal } from '../../schemas/end-signals.js';
import { clusterOptionsOrRefuse } from '../../server/cluster-options.js';
import type { Configuration } from '../../server/config/schema.js';
import { requireDataFolder } from '../../server/data-folder/existing-folder.js';
import { presentKey } from '../../server/keys/encryption-key.js';
import { printable } from '../../server/terminal-text.js';
import type { Run, Values } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { statusOf } from '../interruption.js';
import { outputLost, writeLines } from '../output.js';
import { progressLine, replayProgress } from '../progress.js';
import { eventFormat } from '../replay/formats.js';
import { projectOf, type ReplayRequest, readGivenFile, readRequest, readSettingsFile } from '../replay/request.js';
import { summaryLines, totalLine } from '../replay/summary.js';

/** Evaluates recorded locations again and prints the events, without a server. */
export const run: Run<OptionsOf<'replay'>> = async (values) => {
  const nowMs = Date.now();
  const request = readRequest(values, nowMs, process.stdout.isTTY ? 'summary' : 'ndjson');
  const geofences =
    values.geofences === undefined ? undefined : readGeofences(values.geofences, values['skip-invalid'] === true);
  const { configuration } = configurationFrom({ config: values.config, data: values.data });
  const record = await openRecord(configuration);
  const exitOnSignal = handleSignals();
  try {
    await replay(record.log, values, request, geofences, { configuration, nowMs, exitOnSignal });
  } finally {
    await record.close();
  }
};

interface OpenRecord {
  readonly log: ReadableLog;
  close(): Promise<void>;
}

/** Opens the log with the recorded locations: a data folder, which a server may have open, or the cluster's Kafka. */
async function openRecord(configuration: Configuration): Promise<OpenRecord> {
  if (configuration.backend === 'cluster') {
    // Loaded here, because a data folder needs none of its clients.
    const { openCluster } = await import('../../backends/cluster/cluster.js');
    return openCluster({ ...clusterOptionsOrRefuse(configuration), onProblem: (problem) => console.error(problem) });
  }
  requireDataFolder(configuration.data);
  const log = await openLogReader(configuration.data);
  return { log, close: () => log.close() };
}

/** Reports each invalid entry. Exits with status 1 unless invalid entries are to be skipped. */
function readGeofences(path: string, skipInvalid: boolean): readonly GeofenceInput[] {
  const { geofences, problems } = readProposal(readGivenFile('geofences', path));
  for (const { where, message } of problems) console.error(printable(`${path}, ${where}: ${message}`));
  if (problems.length > 0 && !skipInvalid) process.exit(1);
  return geofences;
}

/**
 * Returns what was erased and the topics still keep. Without the encryption key its names can't be read: then nothing
 * is left out, and a message says so.
 */
async function erasedFrom(log: ReadableLog, scope: Scope, { data }: Configuration, nowMs: number): Promise<Erased> {
  const erasures = await readErasures(log, scope);
  if (erasures.length === 0) return nothingErased;
  const key = presentKey(data);
  if (key !== undefined)
    return erasedIn(
      { configuration: { erasures: () => erasures }, secretCipher: createSecretCipher(key), clock: () => nowMs },
      scope,
    );
  console.error(
    'The encryption key is missing, so events that were erased are printed, too: ' +
      `there are ${erasures.length} erasures. Set FENCELINE_ENCRYPTION_KEY to leave them out.`,
  );
  return nothingErased;
}

interface Context {
  readonly configuration: Configuration;
  /** Epoch ms. */
  readonly nowMs: number;
  readonly exitOnSignal: () => void;
}

async function replay(
  log: ReadableLog,
  values: Values<OptionsOf<'replay'>>,
  { environment, format, range, warmUpMs }: ReplayRequest,
  geofences: readonly GeofenceInput[] | undefined,
  { configuration, nowMs, exitOnSignal }: Context,
): Promise<void> {
  const project = projectOf(await readProjects(log), values.project);
  const scope = { project: project._id, environment };
  const settings =
    values.settings === undefined ? undefined : readSettingsFile(values.settings, project.settings[environment]);
  const proposed = { ...(geofences && { geofences }), ...(settings && { settings }) };
  const opened = await openReplayCatalog(between(configuredFor(log, project, scope, proposed), exitOnSignal));

  const erased = await erasedFrom(log, scope, configuration, nowMs);
  const parts = { log, catalog: opened.catalog, scope, range, erased, ...(warmUpMs !== undefined && { warmUpMs }) };
  const { records, steps } = await prepareReplay(parts);
  const { header, lineOf } = eventFormat(format, values.compare === true);
  const progress = progressLine(process.stderr);
  const tally = new Tally();
  const startedAtMs = performance.now();
  let totals = noTotals;
  if (header !== undefined) await writeLines(process.stdout, [header]);
  for await (const step of steps()) {
    totals = sumOf(totals, step.totals);
    for (const event of step.events) tally.add(event);
    progress.show(replayProgress(totals.records, records, performance.now() - startedAtMs));
    const lines = step.events.map(lineOf).filter((line) => line !== undefined);
    await writeLines(process.stdout, lines);
    // Lets the handlers of signals run.
    await nextTurn();
    exitOnSignal();
  }
  progress.end();
  await opened.close();

  const account = { totals, tally, elapsedMs: performance.now() - startedAtMs, asked: { environment, range } };
  if (format === 'summary') await writeLines(process.stdout, summaryLines(account));
  else console.error(totalLine(account));
}

/**
 * Installs signal handlers, and returns a function that exits if a signal has arrived, and throws if the output can't
 * be written. Call it only while nothing is being written: an exit in the middle of an LMDB transaction may hang.
 *
 * Exit handlers remove temporary files.
 */
function handleSignals(): () => void {
  let status: number | undefined;
  onFirstSignal((name) => {
    status = statusOf(name);
  });
  return () => {
    if (status !== undefined) process.exit(status);
    outputLost.throwIfAborted();
  };
}

/** Yields the items, and calls `call` before each item and after the last. */
async function* between<Item>(items: AsyncIterable<Item>, call: () => void): AsyncGenerator<Item> {
  for await (const item of items) {
    call();
    yield item;
  }
  call();
}
