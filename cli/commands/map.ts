/** `fenceline map`: draws one static map into a file, without a server. */
import { queryProblem } from '../../http/requests/query.js';
import type { RasterIcon } from '../../renderer/icons/rasterize.js';
import { cutLayerProblem } from '../../renderer/pool/tile-reports.js';
import { iconUrls, referenceProblem } from '../../renderer/request/references.js';
import { type Query, readMapQuery } from '../../renderer/request/request.js';
import type { DrawnMap, MapRequest } from '../../renderer/types.js';
import { ApiError, type FieldProblem, parameterError } from '../../schemas/errors.js';
import { fileProblem } from '../../schemas/file-problem.js';
import type { Configuration } from '../../server/config/schema.js';
import { archiveHints, archiveLocation, isUrl, mapsUserAgent } from '../../server/map-data.js';
import { printable } from '../../server/terminal-text.js';
import { cacheFolder } from '../cache-folder.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import { configurationFrom } from '../configuration.js';
import type { OptionsOf } from '../descriptions.js';
import { checkOutput, formatOfOutput, save } from '../save.js';

const one = { type: 'string' } as const;
const many = { type: 'array' } as const;
/** The parameters of GET /maps/static. Not imported from the API, whose schemas take half of the start to load. */
export const mapParameters = {
  width: one,
  height: one,
  center: one,
  zoom: one,
  scale: one,
  style: one,
  language: one,
  markers: many,
  path: many,
  geofences: one,
  bbox: one,
  format: one,
  publishableKey: one,
} as const;

/** Formats by the extension of the output file. */
const formats: Readonly<Record<string, string>> = { '.png': 'png', '.webp': 'webp', '.jpg': 'jpg', '.jpeg': 'jpg' };

/** Draws one static map into a file, without a server. */
export const run: Run<OptionsOf<'map'>> = async (values, words) => {
  const [text] = words;
  if (text === undefined || words.length > 1) throw new UsageError('map requires one query, in quotation marks');
  if (values.output === undefined) throw new UsageError('map requires -o FILE, the file to write');
  const request = readRequest(text, values.output);
  checkOutput('output', values.output);
  const { configuration } = configurationFrom({ config: values.config });
  const map = await draw(request, values.archive ?? configuration.maps.archive, configuration);
  await save(values.output, map.bytes);
  for (const name of map.cutLayers) console.error(printable(cutLayerProblem(name)));
  if (map.missingTiles > 0) console.error(printable(`${map.missingTiles} tiles are missing: ${map.tileProblem}`));
  if (map.emptyView !== undefined) console.error(`the map shows only its background: ${map.emptyView}`);
  if (map.missingIcons > 0) console.error(`${map.missingIcons} icons are missing`);
  for (const name of map.missingFonts) console.error(`some names are not drawn: install ${name}`);
};

function readRequest(text: string, output: string): MapRequest {
  const query = parseQuery(text);
  const misnamed = queryProblem(query, { declared: mapParameters, ignored: {} });
  if (misnamed) throw usageError(misnamed);
  // A format in the query takes precedence.
  const format = query.format ?? formatOfOutput(output, formats, 'name the format in the query');
  const read = readMapQuery({ ...query, ...(format !== undefined && { format }) });
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

/** Loads the renderer, with its native code, only once the request is valid. */
async function draw(request: MapRequest, archive: string, configuration: Configuration): Promise<DrawnMap> {
  const { createMapRenderer } = await import('../../renderer/map.js');
  const icons = await fetchIcons(request, configuration);
  const fetcher = isUrl(archive)
    ? (await import('../../renderer/sources/guarded.js')).createArchiveFetcher(mapsUserAgent)
    : undefined;
  try {
    const source = { archive: archiveLocation(archive), archiveHints: archiveHints(configuration) };
    const fetchBytes = fetcher && { fetchBytes: fetcher.fetchBytes };
    const onBaking = (path: string) =>
      console.error(`bakes the built-in basemap once, which takes some seconds: ${printable(path)}`);
    const renderer = await createMapRenderer({ ...source, cacheFolder: cacheFolder(), onBaking, ...fetchBytes });
    try {
      return await renderer.render(request, icons);
    } finally {
      await renderer.close();
    }
  } catch (error) {
    if (error instanceof ApiError) throw error;
    const name = archive === '' ? 'the basemap' : `the archive ${archive}`;
    throw new CommandFailure(`${name} could not be drawn: ${fileProblem(error)}`);
  } finally {
    await fetcher?.close();
  }
}

/** Returns the icons of the markers by URL. Loads the HTTP client and the decoder only if there are any. */
async function fetchIcons(request: MapRequest, configuration: Configuration): Promise<Map<string, RasterIcon>> {
  const icons = new Map<string, RasterIcon>();
  const urls = iconUrls(request);
  if (urls.length === 0) return icons;
  const [{ createIconClient }, { IconFiles }, { rasterizeIcon }] = await Promise.all([
    import('../../server/maps.js'),
    import('../../renderer/icons/icon-files.js'),
    import('../../renderer/icons/rasterize.js'),
  ]);
  const client = createIconClient(configuration);
  try {
    for (const [url, file] of await new IconFiles(client).get('command', urls)) {
      const icon = await rasterizeIcon(file, request.scale);
      if (!icon.ok) throw usageError({ param: 'markers', rule: `the icon ${url} ${icon.problem.rule}` });
      icons.set(url, icon.value);
    }
    return icons;
  } finally {
    await client.close();
  }
}
