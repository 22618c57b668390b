/** The range of a timeline: the last hour, day or week, or one of the reader's own. The page's address contains it. */
import { type FormEvent, useState } from 'react';
import type { User } from '../../client/types';
import { Button, TextField } from '../components/controls';
import { zoneAt } from '../components/time';
import type { useAddressTexts } from '../state/view-address';

const ranges = [
  { value: 'hour', label: 'Hour', ms: 3_600_000 },
  { value: 'day', label: 'Day', ms: 86_400_000 },
  { value: 'week', label: 'Week', ms: 604_800_000 },
] as const;

export const rangeChoices = [...ranges, { value: 'own', label: 'Dates' }] as const;
type RangeName = (typeof rangeChoices)[number]['value'];

const minuteMs = 60_000;
const halfDayMs = 43_200_000;

/** The times that a timeline shows, in epoch ms. */
export interface Range {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The parameters of the address that a timeline has. */
export const addressNames = ['range', 'from', 'to', 'at'] as const;
type AddressTexts = ReturnType<typeof useAddressTexts<(typeof addressNames)[number]>>;
type Address = AddressTexts[0];

const addressOf = ({ fromMs, toMs }: Range) => ({
  from: new Date(fromMs).toISOString(),
  to: new Date(toMs).toISOString(),
});
const ownRangeIn = ({ from, to }: Address): Range => ({ fromMs: Date.parse(from), toMs: Date.parse(to) });

/** Returns the range that the address names. One whose times were cut on their way is the last day. */
function rangeNameIn(address: Address): RangeName {
  const { fromMs, toMs } = ownRangeIn(address);
  if (address.range === 'own' && fromMs < toMs) return 'own';
  return ranges.find(({ value }) => value === address.range)?.value ?? 'day';
}

/** Returns the time of the location that the address names, or null. A link may have been cut on its way. */
export const wantedAtIn = ({ at }: Address): string | null => (Number.isNaN(Date.parse(at)) ? null : at);

const lengthOf = (name: RangeName): number | undefined => ranges.find(({ value }) => value === name)?.ms;

/** Returns the range that the timeline begins with. A day is the one around the wanted location. */
function firstRange(name: RangeName, address: Address, endMs: number): Range {
  const ms = lengthOf(name);
  if (ms === undefined) return ownRangeIn(address);
  const wantedAt = name === 'day' ? wantedAtIn(address) : null;
  const toMs = wantedAt === null ? endMs : Math.min(Date.parse(wantedAt) + halfDayMs, endMs);
  return { fromMs: toMs - ms, toMs };
}

const two = (part: number): string => String(part).padStart(2, '0');
/** Returns the text of an input of date and time, in the zone of the browser. */
function localText(timeMs: number): string {
  const time = new Date(timeMs);
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** What is typed. */
interface OwnRange {
  readonly from: string;
  readonly to: string;
}

const typedOf = ({ fromMs, toMs }: Range): OwnRange => ({ from: localText(fromMs), to: localText(toMs) });

/** A moment after now and the user's last location, which is in each range that ends there. */
const endOf = ({ updatedAt }: User): number => Math.max(Date.now(), Date.parse(updatedAt)) + 1_000;

/** Keeps the range, also in the page's address. */
export function useRange(user: User, [address, putAddress]: AddressTexts) {
  const [name, setName] = useState(() => rangeNameIn(address));
  const [range, setRange] = useState<Range>(() => firstRange(name, address, endOf(user)));
  const [own, setOwn] = useState(() => typedOf(range));

  function choose(next: RangeName): void {
    setName(next);
    const ms = lengthOf(next);
    if (ms === undefined) {
      putAddress({ range: next, ...addressOf(range) });
      return;
    }
    const toMs = endOf(user);
    const chosen = { fromMs: toMs - ms, toMs };
    putAddress({ range: next === 'day' ? '' : next, from: '', to: '' });
    setRange(chosen);
    setOwn(typedOf(chosen));
  }
  function showOwn(typed: Range): void {
    // The last minute is shown as a whole.
    const shown = { fromMs: typed.fromMs, toMs: typed.toMs + minuteMs };
    setRange(shown);
    putAddress(addressOf(shown));
  }
  return { name, range, own, setOwn, choose, showOwn };
}

interface OwnRangeProps {
  readonly own: OwnRange;
  onType(own: OwnRange): void;
  onShow(range: Range): void;
}

/** Asks for a range of the reader's own, in the time zone of the browser. */
export function OwnRangeForm({ own, onType, onShow }: OwnRangeProps) {
  const typed = { fromMs: Date.parse(own.from), toMs: Date.parse(own.to) };
  const incomplete = (timeMs: number) => (Number.isNaN(timeMs) ? 'Needs a date and a time' : undefined);
  const problems = {
    from: incomplete(typed.fromMs) ?? (typed.fromMs >= typed.toMs ? 'Must be before the end' : undefined),
    to: incomplete(typed.toMs),
  };
  const hasProblem = problems.from !== undefined || problems.to !== undefined;
  function submit(event: FormEvent): void {
    event.preventDefault();
    if (!hasProblem) onShow(typed);
  }
  return (
    <form className="card card-body own-range" onSubmit={submit}>
      <TextField
        label="From"
        type="datetime-local"
        value={own.from}
        hint={`Times are in ${zoneAt(new Date())}`}
        problem={problems.from}
        onChange={(from) => onType({ ...own, from })}
      />
      <TextField
        label="To"
        type="datetime-local"
        value={own.to}
        problem={problems.to}
        onChange={(to) => onType({ ...own, to })}
      />
      <Button type="submit" disabled={hasProblem}>
        Show
      </Button>
    </form>
  );
}
