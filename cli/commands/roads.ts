/** `fenceline roads build`: builds the road data of the embedded router from an OpenStreetMap extract. */
import { readFile } from 'node:fs/promises';
import { commaSeparated, numberOf } from '../../http/fields/values.js';
import { type Bounds, isBounds, parsePoly, ringOfBounds } from '../../providers/roads/boundary.js';
import { buildRoadData } from '../../providers/valhalla/build.js';
import { readExtractHeader } from '../../providers/valhalla/pbf-header.js';
import { createFolder } from '../../schemas/create-folder.js';
import { fileProblem } from '../../schemas/file-problem.js';
import type { Position } from '../../schemas/json/common.js';
import { roadDataFolder } from '../../server/roads.js';
import { CommandFailure, type Run, UsageError, type Values } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { interruptible } from '../interruptible.js';

type Given = Values<OptionsOf<'roads'>>;

/** Builds road data from an OpenStreetMap extract, with the programs of Valhalla. */
export const run: Run<OptionsOf<'roads'>> = async (values, words) => {
  const [verb, file, ...rest] = words;
  if (verb !== 'build' || file === undefined || rest.length > 0)
    throw new UsageError('roads requires the word build and one file, such as: roads build region.osm.pbf');
  const { configuration } = configurationFrom({ config: values.config, data: values.data });
  const folder = roadDataFolder(configuration);
  const given = await givenBoundary(values);
  const header = await readExtractHeader(file).catch((error: unknown) => {
    throw new CommandFailure(`${file} could not be read: ${fileProblem(error)}`);
  });
  if (header === undefined) throw new CommandFailure(`${file} is not an OpenStreetMap extract in the PBF format`);
  const boundary = given ?? boundaryOfHeader(header.bounds);
  createFolder(folder);

  console.log(`builds road data of ${file}${dateText(header.dataAt)}`);
  const startedAtMs = Date.now();
  const { signal } = interruptible(() => 'the road data is as it was before');
  const request = { file, folder, boundary, roadDataAt: header.dataAt, nowMs: startedAtMs, signal };
  const built = await buildRoadData(request);
  if (!built.ok) throw new CommandFailure(built.reason);
  const seconds = ((Date.now() - startedAtMs) / 1_000).toFixed(1);
  console.log(`done in ${seconds} s: ${folder}. Running nodes use it from the next request on`);
};

const dateText = (dataAt: number | null): string =>
  dataAt === null ? '' : ` of ${new Date(dataAt).toISOString().slice(0, '2026-01-01'.length)}`;

/** Returns where the options say that the extract ends; undefined if they do not. */
async function givenBoundary({ boundary, bounds }: Given): Promise<Position[][] | undefined> {
  if (boundary !== undefined && bounds !== undefined)
    throw new UsageError('roads build takes either --boundary or --bounds');
  if (bounds !== undefined) return [ringOfBounds(boundsOf(bounds))];
  if (boundary === undefined) return undefined;
  const text = await readFile(boundary, 'utf8').catch((error: unknown) => {
    throw new CommandFailure(`--boundary ${boundary}: ${fileProblem(error)}`);
  });
  const rings = parsePoly(text);
  if (rings === undefined) throw new CommandFailure(`${boundary} is not a boundary in the Osmosis polygon format`);
  return rings;
}

function boundaryOfHeader(bounds: Bounds | null): Position[][] {
  if (bounds === null || !isBounds(bounds))
    throw new CommandFailure('the extract does not say where it ends: give --bounds or --boundary');
  return [ringOfBounds(bounds)];
}

/** Reads west, south, east and north, in degrees. Throws a UsageError on other text. */
export function boundsOf(text: string): Bounds {
  const box: unknown = commaSeparated(text).map(numberOf);
  if (isBounds(box)) return box;
  throw new UsageError(`--bounds must be west,south,east,north in degrees, such as 11.1,43.7,11.4,43.9, not ${text}`);
}
