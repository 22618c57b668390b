/** Writes `docs/benchmarks.md` and its charts from stored results. Pure. `measurements.ts` writes the other page. */
import { grouped } from '../schemas/wording.js';
import { type Row, spread } from './case.js';
import { drawChart, formatted, type Panel } from './chart.js';
import { causes } from './compare.js';
import { type Environment, environmentLine } from './environment.js';
import { engines } from './peers/all.js';
import { newestWith, type Source } from './sources.js';
import { workloads } from './workloads/all.js';

/** A page with its charts. */
export interface Page {
  readonly markdown: string;
  /** SVG by file name. */
  readonly charts: ReadonlyMap<string, string>;
}

interface Measure {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** What the settings are called. */
  readonly settings: string;
}

const measures: readonly Measure[] = [
  {
    name: 'rate',
    title: 'Locations a second',
    about: 'Wall time, so other work on the machine lowers all figures. Engines take turns, so their ratios hold.',
    settings: 'workload',
  },
  {
    name: 'processor',
    title: 'Processor time of a location',
    about: 'All threads and processes of the engine, without the sender. Other work changes it least.',
    settings: 'workload',
  },
  {
    name: 'load',
    title: 'Time to load the fences',
    about:
      'The time from the first fence until the engine compares locations with all of them.\n' +
      'For `fenceline-http` it includes two starts of the server.',
    settings: 'workload',
  },
  {
    name: 'latency-p50',
    title: 'Event latency, median',
    about:
      'From the scheduled instant of a location to its event at a subscriber. ' +
      'The engine keeps on disk whatever it can.',
    settings: 'rate',
  },
  { name: 'latency-p99', title: 'Event latency, p99', about: 'The same run.', settings: 'rate' },
  {
    name: 'upsert',
    title: 'Upsert to effect',
    about: 'From sending a new fence to the event of a location that is sent after its answer, without other load.',
    settings: 'fences',
  },
  {
    name: 'growth-fences',
    title: 'Processor time of a location by the number of fences',
    about:
      'Ten times as many fences are ten times as many cities, equally dense. The target is 2.5 times from 10 k to 1 M.',
    settings: 'fences',
  },
  {
    name: 'growth-devices',
    title: 'Processor time of a location by the number of devices',
    about: 'Among 10,000 fences, or as many as devices. The target is a constant cost from 10 k to 1 M.',
    settings: 'devices',
  },
  {
    name: 'memory-fences',
    title: 'Memory by the number of fences',
    about: 'Private memory of the engine after loading, without mapped files.',
    settings: 'fences',
  },
  {
    name: 'memory-devices',
    title: 'Memory of the devices',
    about: 'What the private memory grew by when each device had sent its first location.',
    settings: 'devices',
  },
];

const explanations: Readonly<Record<(typeof causes)[number], string>> = {
  'late fix':
    'a device sent an older location after a newer one. Fenceline keeps the newer one.\n' +
    '  The engine moves the device back, and forward again with the next location',
  'state loss': 'the engine was killed in the middle and has forgotten visits. It enters again, and an exit is missing',
  'distance model':
    'the location is so near the outline that two models of the earth disagree:\n' +
    '  0.6 % of the radius plus 1 m for circles, 0.3 m for polygons',
  unexplained: 'none of these',
};

/** Shows the newest results of each case of the main run: its own, or those of another run, which is then named. */
export function renderPage(main: Source, others: readonly Source[]): Page {
  const { environment, results } = main.stored;
  const cases = Object.keys(results).map((name) => {
    const source = newestWith([main, ...others], name) ?? main;
    return { source, rows: source.stored.results[name] ?? [] };
  });
  const rows = cases.flatMap((each) => each.rows);
  const sourceOf = (measure: string): Source =>
    cases.find((each) => each.rows.some(({ point }) => point?.measure === measure))!.source;
  const charts = new Map<string, string>();
  const sections = measures.flatMap((measure) => {
    const panels = panelsOf(rows, measure.name);
    if (panels.length === 0) return [];
    const unit = rows.find(({ point }) => point?.measure === measure.name)!.unit.replace('us', 'µs');
    charts.set(`${measure.name}.svg`, drawChart({ title: measure.title, unit, panels }));
    const source = sourceOf(measure.name);
    const run = source === main ? '' : `\n\n\`${environmentLine(source.stored.environment)}\``;
    return [section({ ...measure, about: `${measure.about}${run}` }, unit, panels)];
  });
  const markdown = [
    `# Benchmarks\n\n<!-- Made from ${main.file} by npm run bench -- --page FILE. Do not edit. -->`,
    introduction(environment),
    enginesTable(rows),
    workloadsTable(),
    ...sections,
    comparison(rows),
  ].join('\n\n');
  return { markdown: `${markdown}\n`, charts };
}

const introduction = (
  environment: Environment,
): string => `Geofencing engines side by side: the same fences, the same locations, the same order, one machine. Each
engine is a process of its own. Engines take turns of two seconds, three times. A first round before these makes every
device known. Every figure is the median of its rounds, with the least and the most.

\`${environmentLine(environment)}\`

A section that names its run is from another one, after the harness had changed.

**Read ratios, not seconds, where the load is above 1**: it counts the processes that wanted a core when the run began.
Repeat everything on your machine, with the peers that are installed, by one command. \`--list\` names how to install
the others:

\`\`\`sh
npm run bench -- --publish --peer all
\`\`\`

\`--size medium\` has a fifth of the fences and devices. [Measurements](measurements.md) has the figures of the whole
product.`;

function enginesTable(rows: readonly Row[]): string {
  const measured = new Set(rows.map(({ point }) => point?.engine));
  const lines = engines
    .filter(({ name }) => measured.has(name))
    .map(({ name, about, durability, semantics }) => `| \`${name}\` | ${about} | ${durability} | ${semantics} |`);
  const left = engines.filter(({ name }) => !measured.has(name)).map(({ name }) => `\`${name}\``);
  const note = left.length > 0 ? `\n\nNot in this run: ${left.join(', ')}.` : '';
  return `## Engines\n\nRates and memory are without persistence, where an engine can do without. Latencies and the comparison of entries and\nexits are with it.\n\n| engine | how it is used | what survives a kill | entries and exits |\n|---|---|---|---|\n${lines.join('\n')}${note}`;
}

const workloadsTable = (): string =>
  `## Workloads\n\nSeeded and pure: [\`bench/workloads/\`](../bench/workloads). Devices drive straight from stop to stop, and report every\nten seconds with an error of 4 to 100 m. They lose their connection, and then send a burst, or the newest location first\nand the others late.\n\n| workload | fences | number at full size |\n|---|---|---|\n${workloads.map(({ name, about, fenceCount }) => `| ${name} | ${about} | ${formatted(fenceCount)} |`).join('\n')}`;

/** Settings and engines are in the order in which they were measured. */
function panelsOf(rows: readonly Row[], measure: string): Panel[] {
  const panels = new Map<string, { title: string; series: Panel['series'][number][] }>();
  for (const { point, rounds } of rows) {
    if (point?.measure !== measure || rounds.length === 0) continue;
    const { setting, engine } = point;
    const panel = panels.get(setting) ?? { title: readable(setting), series: [] };
    panel.series.push({ engine, ...spread(rounds) });
    panels.set(setting, panel);
  }
  return [...panels.values()];
}

const readable = (setting: string): string => (/^\d+$/.test(setting) ? grouped(Number(setting)) : setting);

function section({ name, title, about, settings }: Measure, unit: string, panels: readonly Panel[]): string {
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ engine }) => engine)))];
  const cell = (panel: Panel, engine: string): string => {
    const series = panel.series.find((each) => each.engine === engine);
    if (!series) return '';
    const { min, median, max } = series;
    return min === max ? formatted(median) : `${formatted(median)} (${formatted(min)} to ${formatted(max)})`;
  };
  const lines = names.map((engine) => `| \`${engine}\` | ${panels.map((panel) => cell(panel, engine)).join(' | ')} |`);
  return `## ${title}

${about}

![${title}](images/benchmarks/${name}.svg)

| ${unit}, by ${settings} | ${panels.map((panel) => panel.title).join(' | ')} |
|---|${panels.map(() => '---|').join('')}
${lines.join('\n')}`;
}

function comparison(rows: readonly Row[]): string {
  const value = (measure: string, engine: string, setting: string): number =>
    rows.find(({ point }) => point?.measure === measure && point.engine === engine && point.setting === setting)
      ?.rounds[0] ?? 0;
  const lines = rows
    .filter(({ point }) => point?.measure === 'same')
    .map(({ point }) => {
      const { engine, setting } = point!;
      const counts = causes.map(
        (cause) => `${value(`missing, ${cause}`, engine, setting)} / ${value(`extra, ${cause}`, engine, setting)}`,
      );
      const farthest = value('distance model, at most', engine, setting);
      return `| ${setting} | \`${engine}\` | ${formatted(value('same', engine, setting))} | ${counts.join(' | ')} | ${farthest > 0 ? `${formatted(farthest)} m` : ''} |`;
    });
  return `## Entries and exits compared

A smaller fleet goes through each engine, which is killed in the middle and started again. Each entry and exit is
compared with Fenceline's evaluation in process, which is not killed: how many the engine lacks / has too many, by
cause.

${causes.map((cause) => `- **${cause}**: ${explanations[cause]}.`).join('\n')}

No setting of accuracy or confidence takes part: entries use the point itself unless a project turns on
\`bufferEntries\` or a minimum confidence ([events](events.md)). Peers know no accuracy.

| workload | engine | the same | ${causes.join(' | ')} | farthest from the outline |
|---|---|---|${causes.map(() => '---|').join('')}---|
${lines.join('\n')}`;
}
