/**
 * Imports of CSV files on the embedded backend, in the threads of a node: validation and writes, repeated and as a dry
 * run, and memory.
 */
import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { createImporter, defaultImportBounds, type Importer } from '../../imports/importer.js';
import { geometryResolver } from '../../imports/resources.js';
import { followChanges } from '../../pipeline/catalog/store/changes.js';
import { createConfigurationWriter } from '../../pipeline/catalog/store/configuration-writer.js';
import { openReadModel } from '../../pipeline/catalog/store/read-model.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { createHeldLeases } from '../../pipeline/held-lease.js';
import { freshId } from '../../schemas/ids.js';
import type { ImportRecord } from '../../schemas/json/import.js';
import { createRandom } from '../../schemas/random.js';
import { createImportThread } from '../../server/threads/import-host.js';
import type { BenchCase, BenchOptions, Row } from '../case.js';
import { mainThreadSeconds, ownMemoryMib } from '../memory.js';

const rows = 1_000_000;
const header =
  'description,type,tag,externalId,coordinates,radius,enabled,metadata.city,operatingHours.mon,dwellThreshold\n';
const chunkRows = 500;
const sampleEveryMs = 200;

/** Cities of the workload, and how far shops are from their centre, in degrees. */
const cities = 200;
const cityRadius = 0.05;

/** Yields a file of shops in cities all over the world, without holding it. */
async function* shops(count: number, seed: number): AsyncGenerator<Uint8Array> {
  const random = createRandom(seed);
  const centres = Array.from({ length: cities }, () => [random.between(-120, 150), random.between(-40, 60)] as const);
  yield Buffer.from(header);
  for (let index = 0; index < count; ) {
    let text = '';
    for (const end = Math.min(count, index + chunkRows); index < end; index++) {
      const [east, north] = random.pick(centres);
      const longitude = (east + cityRadius * random.normal()).toFixed(6);
      const latitude = (north + cityRadius * random.normal()).toFixed(6);
      const hours = index % 3 === 0 ? '"[[""9:00 AM"",""5:30 PM""]]"' : '';
      const pair = `store-${index % 50},shop-${index}`;
      const rest = `${100 + (index % 900)},true,City ${index % 1_000},${hours},${index % 5 === 0 ? 5 : ''}`;
      text += `Shop number ${index},circle,${pair},"[${longitude},${latitude}]",${rest}\n`;
    }
    yield Buffer.from(text);
  }
}

interface Measured {
  readonly perSecond: number;
  readonly perProcessorSecond: number;
  /** Rows per second of processor time of the main thread, which no other core can share. */
  readonly perMainThreadSecond: number;
  readonly peakMiB: number;
}

async function measured(work: () => Promise<ImportRecord>, count: number): Promise<Measured> {
  let peakMiB = 0;
  const sample = (): void => {
    peakMiB = Math.max(peakMiB, ownMemoryMib(process.pid));
  };
  const sampling = setInterval(sample, sampleEveryMs);
  const [startedMs, startedCpu, startedMain] = [performance.now(), process.cpuUsage(), mainThreadSeconds()];
  const record = await work();
  const { user, system } = process.cpuUsage(startedCpu);
  const mainSeconds = mainThreadSeconds() - startedMain;
  const seconds = (performance.now() - startedMs) / 1_000;
  clearInterval(sampling);
  sample();
  if (record.status !== 'completed' || record.rows !== count || record.rejected > 0)
    throw new Error(`the import ended as ${record.status}: ${JSON.stringify(record.failure ?? record.rejections[0])}`);
  return {
    perSecond: count / seconds,
    perProcessorSecond: count / ((user + system) / 1e6),
    perMainThreadSecond: count / mainSeconds,
    peakMiB,
  };
}

/** Gives the importer and a folder for files. */
async function withImporter<T>(work: (importer: Importer, folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-bench-import-'));
  const embedded = openEmbedded({ path: join(folder, 'data') });
  const readModelFolder = join(folder, 'read-model');
  const readModel = openReadModel(readModelFolder);
  const following = followChanges({
    log: embedded.log,
    readModel,
    onProblem: ({ reason }) => {
      throw new Error(reason);
    },
  });
  const writer = createConfigurationWriter({ log: embedded.log, readModel });
  const { values } = embedded;
  const leases = createHeldLeases(values, { isOnlyNode: true });
  const parts = { configuration: readModel, writer, values, leases, geometrySources: {}, clock: Date.now };
  const onFailure = (error: Error): void => {
    throw error;
  };
  const thread = createImportThread(
    { readModelFolder, writer, resolve: geometryResolver(parts), onFailure },
    defaultImportBounds,
  );
  const importer = createImporter({ ...parts, thread });
  try {
    return await work(importer, folder);
  } finally {
    await importer.close();
    await following.close();
    await readModel.close();
    await embedded.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function run({ smoke }: BenchOptions): Promise<Row[]> {
  const count = smoke ? 2_000 : rows;
  return withImporter(async (importer, folder) => {
    const scope: Scope = { project: freshId(), environment: 'live' };
    const importFile = async (isDryRun = false, seed = 1) => {
      const path = join(folder, `${seed}.csv`);
      await pipeline(Readable.from(shops(count, seed)), createWriteStream(path));
      return measured(
        () =>
          importer.importRecords({
            scope,
            resource: 'geofence',
            source: { path },
            bytesTotal: statSync(path).size,
            format: 'csv',
            isDryRun,
            requestedBy: { kind: 'key', name: 'bench' },
          }),
        count,
      );
    };
    const dry = await importFile(true);
    const created = await importFile();
    const repeated = await importFile();
    const updated = await importFile(false, 2);
    const all = { 'dry run': dry, 'all created': created, 'nothing changed': repeated, 'all updated': updated };
    return Object.entries(all).flatMap(([what, { perSecond, perProcessorSecond, perMainThreadSecond, peakMiB }]) => [
      { what, unit: 'rows/s', rounds: [perSecond], target: '>= 20,000' },
      { what: `${what}, per second of processor time`, unit: 'rows', rounds: [perProcessorSecond] },
      { what: `${what}, per second of the main thread`, unit: 'rows', rounds: [perMainThreadSecond] },
      { what: `${what}, most memory`, unit: 'MiB', rounds: [peakMiB] },
    ]);
  });
}

/** Imports of CSV files. */
export const importCase: BenchCase = { name: 'import', about: 'a CSV file of a million geofences', run };
