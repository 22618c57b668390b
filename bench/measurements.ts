/** Writes `docs/measurements.md`, the figures of the whole product, from stored results. Pure. */
import { type Row, spread } from './case.js';
import { formatted } from './chart.js';
import { environmentLine } from './environment.js';
import { newestWith, type Source } from './sources.js';

interface Section {
  /** The case whose figures it shows. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
}

/** In the order of the page. */
export const sections: readonly Section[] = [
  {
    name: 'evaluation',
    title: 'Evaluation alone',
    about: `Devices take steps of about 50 m, so among dense fences every second location crosses a boundary.
Evaluation is called in process: on one thread, and then by a process on each core, which has a part of
the devices ([130](decisions/130-evaluation-on-all-cores.md)). Tile38 is called over a socket with 256
commands in flight, and uses both cores with its sender. [Benchmarks](benchmarks.md) compare more
engines on more workloads.`,
  },
  {
    name: 'end-to-end',
    title: 'End to end, embedded',
    about: `Bulk uploads over HTTP (NDJSON) into the durable log, states, events, outcomes and chDB, all on disk.
20,000 devices, four requests of 2,000 lines in flight. Accepted: acknowledged as durable. Applied:
state and events committed. Stored: rows in the analytics engine. "As SDKs report" adds user, metadata
and details to each location.`,
  },
  {
    name: 'track',
    title: 'Single track calls',
    about: `500 calls a second among 100 k circles, measured from the scheduled instant, each with its events in the
answer. Then as many calls as 64 clients send when each waits for its answer.`,
  },
  {
    name: 'catalog',
    title: 'A million fences',
    about: `1 M polygons of 32 vertices on 54,000 km². Memory is that of the whole process, analytics engine
included, without mapped files. An upsert takes effect with the first location that is appended after
its answer. The figure is the time from sending it to the answer of a track call with the entry, while
bulk uploads use both cores.`,
  },
  {
    name: 'abuse',
    title: 'Callers who claim a huge accuracy',
    about: `100 ordinary track calls a second beside eight callers who send one location after another. There are
100 k fences, half of them polygons, and no rate limits.`,
  },
  {
    name: 'webhooks',
    title: 'Webhooks',
    about: `Each location causes one event, and each event one request. Receivers are a thread of the bench on the
same cores, and endpoints are separate hosts (127.x.y.z). Latencies count from the location's receipt to
the request at the receiver.`,
  },
  {
    name: 'waiting-deliveries',
    title: 'Memory with a million waiting deliveries',
    about: `A million events, none of them for a webhook, and a million events for a webhook that refuses them.`,
  },
  {
    name: 'import',
    title: 'Imports',
    about: `A CSV file of a million geofences with ten columns, on an embedded node: a dry run, new records, the
same file again, and a file that changes all of them. Memory is anonymous memory of the whole process,
generator included.`,
  },
  {
    name: 'maps',
    title: 'Static maps',
    about: `Maps of 600 by 400, each a random view with labels and attribution, with warm tiles. Each is drawn by
one process, one at a time; rates are for two processes with four maps in flight. Of an area drawn
before, three maps were drawn, and each further one has two markers at other places. Peers draw the same
views of streets to a PNG. \`staticmaps\` uses tiles drawn beforehand, at whole zooms only. MapLibre GL JS
draws on an existing map in headless Chromium without a graphics card. That peer takes 48 ms @1x here
and took 60 ms where the targets were set: compare with the peer.`,
  },
  {
    name: 'dashboard-map',
    title: "The dashboard's map",
    about: `Headless Chromium without a graphics card drags and zooms the map. The page draws its frames
beside those of the map. The map leaves out frames while its last one is drawn. Its frames count while
the view moves. There are no places or many ([048](decisions/048-drawing.md),
[057](decisions/057-loading-of-the-dashboard.md)).`,
  },
  {
    name: 'cluster',
    title: 'Cluster',
    about: `Kafka 3.9, Redis 7 (\`appendfsync everysec\`), the registry, ClickHouse's engine and the sender share
the two cores with one process for each role. Every acknowledgement is on: all replicas (there is one),
an idempotent producer, state and outbox in one commit, events and outcomes published before the offset
is reported. 10 k circles of 100 m, an event from every twentieth location, eight partitions.`,
  },
  {
    name: 'memory-soak',
    title: 'Memory over two hours',
    about: `10 k fences, 50 k devices, a quarter of the locations as track calls, the rest as a bulk upload a
second. Memory rises to about 600 MiB in the first eight minutes, and is level from then on: there is no
sign of a leak. V8's young generations take 100 MiB of it, and device states about 1 kB each. Malloc's
arenas fill within 35 minutes. chDB's merges need 28 to 58 MiB. A larger fleet takes up to 200 MiB more,
until \`locations.cachedDevices\` is reached.`,
  },
  {
    name: 'maps-soak',
    title: 'Memory of a drawing process',
    about: `Eighteen minutes of random maps, of up to 900 by 700 at scale 3, after 4,500 small ones. The process of the
basemap still grew at the end, because it had not seen all tiles yet. Commit d0e995e2 had medians of 305, 268
and 274 MiB in twelve faster minutes, with 22,835, 8,927 and 8,038 maps. An hour of this version has not been
measured, and would have more.`,
  },
];

/** Shows the newest results of each case: those of the main run, or of another one, which is then named. */
export function renderMeasurements(main: Source, others: readonly Source[]): string {
  const shown = sections.flatMap((section) => {
    const source = newestWith([main, ...others], section.name);
    if (source === undefined) return [];
    const other = source === main ? '' : `\n\n\`${environmentLine(source.stored.environment)}\``;
    return [`## ${section.title}\n\n${section.about}${other}\n\n${figures(source.stored.results[section.name]!)}`];
  });
  return `${[introduction(main), ...shown].join('\n\n')}\n`;
}

const introduction = ({ file, stored: { environment } }: Source): string => `# Measurements

<!-- Made from ${file} by npm run bench -- --page FILE. Do not edit. -->

The figures of the whole product. Seeds are fixed, a first round warms up, and each figure has its minimum, median and
maximum. Sender and server share the cores. A target that no run has reached stays a target. Machines differ by a factor
of two, so compare ratios. A section that names its commit is from another run: soaks take hours, and evaluation,
uploads, track calls and maps were measured again since. The others are from this one:

\`${environmentLine(environment)}\`

\`\`\`sh
npm run bench -- --smoke                                 # short cases, small
npm run bench -- --list                                  # the cases and peers
npm run bench -- --case evaluation --case track          # some cases
npm run bench -- --case evaluation --peer tile38         # beside Tile38
npm run bench -- --case maps --staticmaps NODE_MODULES   # beside an installed staticmaps
\`\`\`

[Benchmarks](benchmarks.md) compare Fenceline with other geofencing engines on the same input. The results behind both
pages are in [\`bench/results/\`](../bench/results), and earlier ones in its history.`;

function figures(rows: readonly Row[]): string {
  const lines = rows
    .filter(({ rounds }) => rounds.length > 0)
    .map((row) => {
      const { min, median, max } = spread(row.rounds);
      const extent = row.rounds.length > 1 ? `${formatted(min)} to ${formatted(max)}` : '';
      const cells = [row.what, row.unit, formatted(median), extent, row.target ?? '', outcomeOf(row)];
      return `| ${cells.join(' | ')} |`;
    });
  return `| figure | unit | median | all rounds | target | |\n|---|---|---|---|---|---|\n${lines.join('\n')}`;
}

/** Tells whether a figure meets a target such as `>= 20,000`; nothing for a target in words. */
function outcomeOf({ target, rounds }: Row): string {
  const [, direction, limit] = /^([<>])=? ([\d,]+)$/.exec(target ?? '') ?? [];
  if (direction === undefined || limit === undefined) return '';
  const bound = Number(limit.replaceAll(',', ''));
  const isMet = (value: number): boolean => (direction === '<' ? value <= bound : value >= bound);
  if (rounds.every(isMet)) return 'met';
  return isMet(spread(rounds).median) ? 'met by the median' : '**missed**';
}
