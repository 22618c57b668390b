/**
 * `fenceline migrate`: copies geofences, beacons and settings of a Radar project, and compares the events of both
 * services for the same devices.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFolder } from '../../schemas/create-folder.js';
import { printable } from '../../server/terminal-text.js';
import { CommandFailure, type Run, UsageError, type Values } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { type ComparedEvent, type Comparison, compareEvents } from '../radar/compare.js';
import { type DownloadedList, download } from '../radar/download.js';
import { comparedEvent, deliveredEvents } from '../radar/events.js';
import { get, pagesOf } from '../radar/pages.js';
import { beaconFields, geofenceFields, settingsFrom } from '../radar/records.js';
import { durationRule, momentRule, parseDuration, parseMoment } from '../replay/times.js';
import { type Access, accessOf, call, checkedAddress } from '../server.js';
import { run as importFile } from './import.js';

type Given = Values<OptionsOf<'migrate'>>;

const defaultRadar = 'https://api.radar.io';
const defaultTolerance = '60s';
const maxShown = 20;

/** Copies geofences, beacons and settings of a Radar project, or compares the events of both services. */
export const run: Run<OptionsOf<'migrate'>> = async (values, [action, subject, ...rest]) => {
  if (rest.length > 0) throw new UsageError('migrate takes radar FOLDER, or compare');
  if (action === 'radar' && subject !== undefined) return copy(values, subject);
  if (action === 'compare') return compare(values, subject);
  throw new UsageError('migrate takes radar FOLDER, or compare');
};

function radarOf(values: Given): Access {
  const key = values['radar-key'] ?? process.env.RADAR_SECRET_KEY;
  if (!key) throw new UsageError('a secret key of Radar is required: --radar-key or RADAR_SECRET_KEY');
  return { address: checkedAddress('--radar-address', values['radar-address'] ?? defaultRadar), key, isRadar: true };
}

const resources: readonly DownloadedList[] = [
  { resource: 'geofences', time: 'updatedAt', fieldsOf: geofenceFields },
  { resource: 'beacons', time: 'createdAt', fieldsOf: beaconFields },
];

/** Reads both lists and the settings into files of the folder, then imports them. */
async function copy(values: Given, folder: string): Promise<void> {
  const [radar, fenceline] = [radarOf(values), await accessOf(values)];
  createFolder(folder);
  for (const each of resources) {
    const file = join(folder, `${each.resource}.ndjson`);
    if (existsSync(file)) console.log(`${file} is there already; remove it to read ${each.resource} again`);
    else console.log(`${file}: ${await download(radar, file, each)} ${each.resource} of Radar`);
  }
  const settings = settingsFrom(await get(radar, '/v1/config'), await beaconSettings(radar));
  writeFileSync(join(folder, 'settings.json'), `${JSON.stringify(settings, undefined, 2)}\n`);
  const isDryRun = values['dry-run'] === true;
  const refused: string[] = [];
  for (const { resource } of resources) {
    const rejected = join(folder, `${resource}-refused.csv`);
    const options = { resource, ...fenceline, 'dry-run': isDryRun, rejected };
    // Bad rows of one resource do not keep the other from its import.
    await importFile(options, [join(folder, `${resource}.ndjson`)]).catch((error: Error) => {
      if (!(error instanceof CommandFailure)) throw error;
      refused.push(error.message);
    });
  }
  await putSettings(fenceline, settings, isDryRun);
  if (refused.length > 0) throw new CommandFailure(refused.join('; '));
}

const beaconSettings = (radar: Access) => get(radar, '/v1/search/beacons?near=0,0&radius=1000&limit=1');

async function putSettings(fenceline: Access, settings: object, isDryRun: boolean): Promise<void> {
  console.log(printable(`settings: ${JSON.stringify(settings)}`));
  if (isDryRun || Object.keys(settings).length === 0) return;
  await call(fenceline, 'PUT', '/v1/settings', { json: settings });
}

/** Compares the events of a range of time. Radar's come from its API, or from a file of webhook bodies. */
async function compare(values: Given, file: string | undefined): Promise<void> {
  const { by = 'userId' } = values;
  if (by !== 'userId' && by !== 'deviceId') throw new UsageError('--by must be userId or deviceId');
  const toleranceMs = parseDuration(values.tolerance ?? defaultTolerance);
  if (toleranceMs === undefined) throw new UsageError(`--tolerance ${durationRule}`);
  const range = rangeOf(values, Date.now());
  const ours = await listed(await accessOf(values), range, toleranceMs);
  const theirs = file === undefined ? await listed(radarOf(values), range, toleranceMs) : await deliveredEvents(file);
  const result = withinRange(compareEvents(theirs, ours, { toleranceMs, by }), range);
  report(result, values.json === true);
}

interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

function rangeOf({ from = '-24h', to = '-1m' }: Given, nowMs: number): Range {
  const [fromMs, toMs] = [parseMoment(from, nowMs), parseMoment(to, nowMs)];
  if (fromMs === undefined) throw new UsageError(`--from ${momentRule}`);
  if (toMs === undefined) throw new UsageError(`--to ${momentRule}`);
  if (fromMs >= toMs) throw new UsageError('--from must be before --to');
  return { fromMs, toMs };
}

/** Reads the events of the range, and those around it that may match one at its ends. */
async function listed(service: Access, { fromMs, toMs }: Range, toleranceMs: number): Promise<ComparedEvent[]> {
  const events: ComparedEvent[] = [];
  const [after, before] = [fromMs - toleranceMs, toMs + toleranceMs].map((ms) => new Date(ms).toISOString());
  for await (const { records } of pagesOf(service, { path: 'events', time: 'createdAt', before, after }))
    for (const record of records) events.push(comparedEvent(record, service.address));
  return events;
}

/** Leaves out differences at the ends, whose counterpart lies outside of what was read. */
function withinRange({ differences, counts, ...rest }: Comparison, { fromMs, toMs }: Range): Comparison {
  const isWithin = ({ event }: Comparison['differences'][number]): boolean => {
    const timeMs = Date.parse(event.createdAt);
    return timeMs >= fromMs && timeMs <= toMs;
  };
  const inside = differences.filter(isWithin);
  const count = (type: string, kind: 'missing' | 'extra'): number =>
    inside.filter((each) => each.kind === kind && each.event.type === type).length;
  const corrected = [...counts].map(
    ([type, { matched }]) => [type, { matched, missing: count(type, 'missing'), extra: count(type, 'extra') }] as const,
  );
  return { ...rest, differences: inside, counts: new Map(corrected) };
}

function report({ counts, differences, notCompared }: Comparison, isJson: boolean): void {
  if (isJson) {
    for (const { kind, event } of differences) console.log(JSON.stringify({ kind, event }));
  } else {
    console.log(['type'.padEnd(28), 'matched', 'missing', 'extra'].join('  '));
    for (const [type, { matched, missing, extra }] of counts)
      console.log(
        [type.padEnd(28), `${matched}`.padStart(7), `${missing}`.padStart(7), `${extra}`.padStart(5)].join('  '),
      );
    for (const { kind, event } of differences.slice(0, maxShown)) console.log(printable(lineOf(kind, event)));
    if (differences.length > maxShown) console.log(`and ${differences.length - maxShown} more; --json prints all`);
    if (notCompared > 0) console.log(`${notCompared} events of Radar have types that Fenceline does not have`);
  }
  if (differences.length > 0) throw new CommandFailure(`${differences.length} events are in one service only`);
}

function lineOf(kind: string, { createdAt, type, user, geofence, beacon }: ComparedEvent): string {
  const { tag, externalId, _id } = geofence ?? beacon ?? {};
  return `${kind}  ${createdAt}  ${type}  ${user?.userId ?? user?.deviceId}  ${tag ?? ''}/${externalId ?? _id}`;
}
