/** Checks what a node uses besides its backend: its own address, map data, geocoding, routing and mail. */
import { request } from 'undici';
import type { ArchiveHints } from '../../renderer/sources/open.js';
import type { TileSource } from '../../renderer/types.js';
import { fileProblem } from '../../schemas/file-problem.js';
import type { Configuration } from '../config/schema.js';
import { localAddress, reachableHost } from '../local-address.js';
import {
  archiveHints,
  archiveLocation,
  isUrl,
  mapsUserAgent,
  shownArchive,
  unattributed,
  unreadableArchive,
} from '../map-data.js';
import { hasRoleApi, unusableFiles } from '../named-files.js';
import { type Finding, findingsAbout } from './finding.js';
import { reach, reachAll } from './reach.js';

const answerLimitMs = 5_000;

/** Says whether a node runs here, and whether it is ready. */
export async function* checkNode({ host, port }: Configuration): AsyncGenerator<Finding> {
  const { ok, warning } = findingsAbout('node');
  if (port === 0) return;
  const address = reachableHost(host);
  const { problem } = await reach(address, port);
  if (problem !== undefined) {
    yield ok(`no program listens on ${address}:${port}; a node can start there`);
    return;
  }
  const body = await request(`${localAddress({ host, port })}/health/ready`, {
    signal: AbortSignal.timeout(answerLimitMs),
  })
    .then(async (response) => (await response.body.json()) as { readonly status?: unknown })
    .catch((error: Error) => ({ status: error.message }));
  if (body.status === 'ready') yield ok(`a node on ${address}:${port} is ready`);
  else
    yield warning(
      `a program on ${address}:${port} does not answer as a node that is ready`,
      'Read the log of the node, or choose another port if it is another program.',
    );
}

/** Yields a failure for each file that a setting names and that cannot be used. */
export async function* checkNamedFiles(configuration: Configuration): AsyncGenerator<Finding> {
  for (const { setting, subject, problem } of unusableFiles(configuration))
    yield findingsAbout(subject).failure(problem, `Correct ${setting}, or put there what it names.`);
}

/** Says where maps come from, and opens the archive. A file that is missing is reported with the others. */
export async function* checkMapData(configuration: Configuration): AsyncGenerator<Finding> {
  if (!hasRoleApi(configuration)) return;
  const { ok, warning, failure } = findingsAbout('map data');
  const { archive } = configuration.maps;
  const location = archiveLocation(archive);
  if (location === null) {
    yield ok('the built-in basemap; maps.archive adds streets');
    return;
  }
  if (unusableFiles(configuration).some(({ setting }) => setting === 'maps.archive')) return;
  const tried = await openOnce(location, archiveHints(configuration));
  if ('problem' in tried) {
    yield failure(unreadableArchive(archive, tried.problem), 'Correct maps.archive, or put there what it names.');
    return;
  }
  yield ok(`${shownArchive(archive)} can be read`);
  if (tried.source.attribution === '')
    yield warning(unattributed(shownArchive(archive)), 'Set maps.archiveAttribution.');
}

/** Opens an archive and closes it. Returns what is known of it, or why it cannot be opened. */
async function openOnce(
  location: string,
  hints: ArchiveHints,
): Promise<{ readonly source: TileSource } | { readonly problem: string }> {
  if (isUrl(location)) {
    // A URL template of tiles is opened without a request.
    const [reached] = await reachAll([location]);
    if (reached?.problem !== undefined) return { problem: reached.problem };
  }
  const [{ openArchive }, { createArchiveFetcher }] = await Promise.all([
    import('../../renderer/sources/open.js'),
    import('../../renderer/sources/guarded.js'),
  ]);
  const fetcher = createArchiveFetcher(mapsUserAgent, answerLimitMs);
  try {
    const source = await openArchive(location, fetcher.fetchBytes, hints);
    await source.close();
    return { source };
  } catch (error) {
    return { problem: fileProblem(error) };
  } finally {
    await fetcher.close();
  }
}

/** Checks the services that are configured. Without them, their requests are refused and all else works. */
export async function* checkServices({ geocoding, routing, mail, tracing }: Configuration): AsyncGenerator<Finding> {
  const services = [
    { name: 'geocoding', setting: 'geocoding.url', url: geocoding.url },
    { name: 'routing', setting: 'routing.url', url: routing.url },
    { name: 'traces', setting: 'tracing.endpoint', url: tracing.endpoint },
    { name: 'mail', setting: 'mail.host and mail.port', url: mail.host && `smtp://${mail.host}:${mail.port}` },
  ];
  for (const { name, setting, url } of services) {
    if (url === '' || !URL.canParse(url)) continue;
    const { ok, warning } = findingsAbout(name);
    const [reached] = await reachAll([url]);
    if (reached?.problem === undefined) yield ok(`${reached?.address} accepts connections`);
    else
      yield warning(`${reached.address} can't be reached (${reached.problem})`, `Check ${setting}, and the service.`);
  }
}
