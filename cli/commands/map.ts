/** `fenceline map`: draws one static map into a file, without a server. */
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { extname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { mapParameters } from '../../api/maps/description.js';
import { queryProblem } from '../../http/requests/query.js';
import { IconFiles } from '../../renderer/icons/icon-files.js';
import type { RasterIcon } from '../../renderer/icons/rasterize.js';
import { iconUrls, referenceProblem } from '../../renderer/request/references.js';
import { type Query, readMapQuery } from '../../renderer/request/request.js';
import { createArchiveFetcher } from '../../renderer/sources/guarded.js';
import type { DrawnMap, MapRequest } from '../../renderer/types.js';
import { type FieldProblem, parameterError } from '../../schemas/errors.js';
import type { Configuration } from '../../server/config/schema.js';
import { archiveHints, archiveLocation, createIconClient, mapsUserAgent } from '../../server/maps.js';
import { type Command, UsageError } from '../command.js';
import { configurationOptions, configurationOrExit } from './configuration.js';

const options = {
  config: configurationOptions.config,
  output: { type: 'string', short: 'o' },
  archive: { type: 'string' },
} as const;

/** Of the last part of the output's name, where the query names no format. */
const formats: Readonly<Record<string, string>> = { '.png': 'png', '.webp': 'webp', '.jpg': 'jpg', '.jpeg': 'jpg' };

export const mapCommand: Command = {
  usage: "map 'QUERY' -o FILE [--archive FILE|URL] [--config FILE]",
  summary:
    "Draws a static map without a server: QUERY as that of /maps/static, such as 'center=43.77,11.25&zoom=4&width=600&height=400'.",
  async run(args) {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
    const [text] = positionals;
    if (text === undefined || positionals.length > 1) throw new UsageError('map takes one query, in quotation marks');
    if (values.output === undefined) throw new UsageError('-o names the file to write');
    const request = readRequest(text, values.output);
    const { configuration } = configurationOrExit({ config: values.config });
    const map = await draw(request, values.archive ?? configuration.maps.archive, configuration);
    await writeFile(values.output, map.bytes);
    if (map.missingTiles > 0) console.error(`${map.missingTiles} tiles could not be had: ${map.tileProblem}`);
    if (map.missingIcons > 0) console.error(`${map.missingIcons} icons could not be had`);
  },
};

function readRequest(text: string, output: string): MapRequest {
  const format = formats[extname(output).toLowerCase()];
  const query = parseQuery(text);
  const misnamed = queryProblem(query, { declared: mapParameters.properties, ignored: {} });
  if (misnamed) throw usageError(misnamed);
  const read = readMapQuery({ ...(format && { format }), ...query });
  if (!read.ok) throw usageError(read.problem);
  const { request, geofenceTag } = read.value;
  if (geofenceTag !== null) throw usageError({ param: 'geofences', rule: 'are known to a server only' });
  const problem = referenceProblem(request);
  if (problem) throw usageError(problem);
  return { ...request, fences: [] };
}

function parseQuery(text: string): Query {
  const parameters = new URLSearchParams(text);
  return Object.fromEntries(
    [...parameters.keys()].map((name) => {
      const values = parameters.getAll(name);
      return [name, values.length === 1 ? values[0] : values];
    }),
  );
}

const usageError = (problem: FieldProblem): UsageError => new UsageError(parameterError(problem).message);

/** What draws is loaded here alone: no other command needs its native code. */
async function draw(request: MapRequest, archive: string, configuration: Configuration): Promise<DrawnMap> {
  const { createMapRenderer } = await import('../../renderer/map.js');
  const { rasterizeIcon } = await import('../../renderer/icons/rasterize.js');
  const iconClient = createIconClient(configuration);
  const fetcher = createArchiveFetcher(mapsUserAgent);
  try {
    const icons = new Map<string, RasterIcon>();
    for (const [url, file] of await new IconFiles(iconClient).get(iconUrls(request))) {
      const icon = await rasterizeIcon(file, request.scale);
      if (!icon.ok) throw usageError({ param: 'markers', rule: `the icon ${url} ${icon.problem.rule}` });
      icons.set(url, icon.value);
    }
    const cacheFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'fenceline');
    const source = { archive: archiveLocation(archive), archiveHints: archiveHints(configuration) };
    const renderer = await createMapRenderer({ ...source, cacheFolder, fetchBytes: fetcher.fetchBytes });
    const map = await renderer.render(request, icons);
    await renderer.close();
    return map;
  } finally {
    await iconClient.close();
    await fetcher.close();
  }
}
