/** The summary at the end of a replay, as text. Pure. */
import type { Counts, Tally, TransitionCounts } from '../../replay/tally.js';
import type { Totals } from '../../replay/totals.js';
import { isoTime } from '../../schemas/wire/common.js';
import { grouped } from '../../schemas/wording.js';
import { column, printable } from '../../server/terminal-text.js';

interface Account {
  readonly totals: Totals;
  readonly tally: Tally;
  readonly elapsedMs: number;
  /** What was asked for. */
  readonly asked: { readonly environment: string; readonly range: { readonly fromMs: number; readonly toMs: number } };
}

const maxNameWidth = 60;
const cellWidth = 10;

const cells = (values: readonly string[], width = cellWidth): string =>
  values.map((value) => value.padStart(width)).join('');

const inReplay = ({ both, replay }: Counts): number => both + replay;
const onRecord = ({ both, record }: Counts): number => both + record;
const allOf = ({ entered, left, dwelled }: TransitionCounts, count: (counts: Counts) => number): number =>
  count(entered) + count(left) + count(dwelled);

/** Returns what was evaluated, the table of places, and what the numbers can't tell by themselves. */
export const summaryLines = (account: Account): string[] => [
  ...evaluationLines(account),
  '',
  ...tableLines(account.tally),
];

/** Returns one line, for those who keep the events. */
export function totalLine(account: Account): string {
  if (isEmpty(account.totals)) return nothingHeld(account);
  const { total } = account.tally;
  return (
    `${grouped(locationsOf(account.totals))} locations; ${grouped(allOf(total, inReplay))} events in the replay, ` +
    `${grouped(allOf(total, onRecord))} on record: ` +
    `${grouped(allOf(total, ({ replay }) => replay))} only in the replay, ` +
    `${grouped(allOf(total, ({ record }) => record))} only on record`
  );
}

const locationsOf = ({ results: { applied, repeat, stale } }: Totals): number => applied + repeat + stale;

const isEmpty = (totals: Totals): boolean => locationsOf(totals) + totals.warmUpLocations + totals.deadLetters === 0;

function nothingHeld({ asked: { environment, range } }: Account): string {
  const from = Number.isFinite(range.fromMs) ? `from ${isoTime(range.fromMs)}` : 'from the oldest location held';
  return (
    `No locations of environment ${environment} are held ${from} to ${isoTime(range.toMs)}; ` +
    '--environment, --from and --to choose others.'
  );
}

function evaluationLines(account: Account): string[] {
  if (isEmpty(account.totals)) return [nothingHeld(account)];
  const { totals, tally, elapsedMs } = account;
  const { results, warmUpLocations, deadLetters, firstReceivedAt, lastReceivedAt } = totals;
  const locations = locationsOf(totals);
  const perSecond = (locations + warmUpLocations) / Math.max(elapsedMs / 1_000, 0.001);
  const lines = [
    `${grouped(locations)} locations: ${grouped(results.applied)} applied, ` +
      `${grouped(results.repeat)} repeats, ${grouped(results.stale)} stale`,
  ];
  if (locations > 0) lines.push(`  received ${isoTime(firstReceivedAt)} to ${isoTime(lastReceivedAt)}`);
  if (warmUpLocations > 0)
    lines.push(`  after ${grouped(warmUpLocations)} earlier ones, which showed who was inside what`);
  if (deadLetters > 0) lines.push(`  ${grouped(deadLetters)} more could not be evaluated`);
  lines.push(`  in ${(elapsedMs / 1_000).toFixed(1)} s, ${grouped(Math.round(perSecond))} a second`);
  if (tally.firsts > 0) {
    lines.push(
      `  events at the first location held of their device: ${grouped(tally.firsts)}; it may have been inside before`,
    );
  }
  return lines;
}

function tableLines({ places, total }: Tally): string[] {
  if (places.length === 0) return ['No events, neither in the replay nor on record.'];
  const names = places.map(({ kind, name }) => printable(`${kind} ${name}`));
  const nameWidth = Math.min(
    maxNameWidth,
    names.reduce((width, { length }) => Math.max(width, length), 0),
  );
  const row = (name: string, transitions: TransitionCounts): string =>
    `${column(name, nameWidth)}${cells(countsOf(transitions).map(grouped))}`;
  return [
    `${''.padEnd(nameWidth)}${cells(['entered', 'left', 'dwelled', 'only in'], 2 * cellWidth)}`,
    `${''.padEnd(nameWidth)}${cells(Array(4).fill(['replay', 'record']).flat())}`,
    ...places.map(({ transitions }, index) => row(names[index]!, transitions)),
    row('all', total),
  ];
}

const countsOf = (transitions: TransitionCounts): number[] => [
  ...[transitions.entered, transitions.left, transitions.dwelled].flatMap((counts) => [
    inReplay(counts),
    onRecord(counts),
  ]),
  allOf(transitions, ({ replay }) => replay),
  allOf(transitions, ({ record }) => record),
];
