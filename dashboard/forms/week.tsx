/** The weekly grid of operating hours. Times are local to the geofence. */
import type { Geofence } from '../../client/types';
import { Button, Check } from '../components/controls';
import { type Problem, ProblemText } from '../components/problem';
import { useFocusOfRows } from './focus-of-rows';

export type Hours = NonNullable<Geofence['operatingHours']>;
type Day = keyof Hours;
type Span = readonly [opening: string, closing: string];

const days: readonly { readonly day: Day; readonly name: string }[] = [
  { day: 'Mon', name: 'Monday' },
  { day: 'Tue', name: 'Tuesday' },
  { day: 'Wed', name: 'Wednesday' },
  { day: 'Thu', name: 'Thursday' },
  { day: 'Fri', name: 'Friday' },
  { day: 'Sat', name: 'Saturday' },
  { day: 'Sun', name: 'Sunday' },
];
const usual: Span = ['09:00', '17:00'];
const dayMinutes = 24 * 60;

const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Returns the parts of a day that its spans cover, in minutes. A span past midnight goes on in the next day's bar. */
function partsOf(spans: readonly Span[], before: readonly Span[]): readonly (readonly [number, number])[] {
  const own = spans.map(([opening, closing]): [number, number] => {
    const [from, to] = [minutesOf(opening), minutesOf(closing)];
    return [from, to > from ? to : dayMinutes];
  });
  const rest = before
    .filter(([opening, closing]) => minutesOf(closing) <= minutesOf(opening) && minutesOf(closing) > 0)
    .map(([, closing]): [number, number] => [0, minutesOf(closing)]);
  return [...rest, ...own].filter(([from, to]) => Number.isFinite(from) && Number.isFinite(to) && to > from);
}

interface Props {
  readonly hours: Hours | undefined;
  readonly problem: Problem | undefined;
  onChange(hours: Hours | undefined): void;
}

/** Shows operating hours as a weekly grid, in the local time of the geofence. */
export function WeekEditor({ hours, problem, onChange }: Props) {
  const { editor, focusNext } = useFocusOfRows();
  const spansOf = (day: Day): readonly Span[] => hours?.[day] ?? [];
  const set = (day: Day, spans: readonly Span[]) =>
    onChange({ ...hours, [day]: spans.map(([opening, closing]): [string, string] => [opening, closing]) });
  const everyDay = (spans: readonly Span[], only: readonly Day[]) =>
    onChange({ ...hours, ...Object.fromEntries(only.map((day) => [day, spans.map((span) => [...span])])) } as Hours);
  function add(day: Day): void {
    set(day, [...spansOf(day), usual]);
    focusNext(`[data-day=${day}] .week-span input:first-child`);
  }
  function remove(day: Day, at: number): void {
    set(
      day,
      spansOf(day).filter((_, index) => index !== at),
    );
    focusNext(`[data-day=${day}] .week-spans > button`);
  }
  return (
    <div className="stack-tight" ref={editor}>
      <Check
        label="Always open"
        hint="Without operating hours, events say nothing about opening."
        isChecked={hours === undefined}
        onChange={(isOpen) =>
          onChange(
            isOpen
              ? undefined
              : (Object.fromEntries(days.map(({ day }, index) => [day, index < 5 ? [[...usual]] : []])) as Hours),
          )
        }
      />
      {hours !== undefined && (
        <>
          <div className="week">
            {days.map(({ day, name }, index) => (
              <fieldset key={day} className="week-day" data-day={day}>
                <legend className="visually-hidden">{name}</legend>
                <span className="label" aria-hidden="true">
                  {day}
                </span>
                <div className="week-spans">
                  {spansOf(day).length === 0 && <span className="quiet">Closed</span>}
                  {spansOf(day).map(([opening, closing], at) => (
                    // biome-ignore lint/suspicious/noArrayIndexKey: a span has no other name than its place
                    <span key={at} className="week-span">
                      <input
                        className="input"
                        type="time"
                        aria-label={`${name}, opening ${at + 1}`}
                        value={opening}
                        onChange={({ target }) =>
                          set(
                            day,
                            spansOf(day).map((span, i) => (i === at ? [target.value, span[1]] : span)),
                          )
                        }
                      />
                      <span aria-hidden="true">–</span>
                      <input
                        className="input"
                        type="time"
                        aria-label={`${name}, closing ${at + 1}`}
                        value={closing === '24:00' ? '00:00' : closing}
                        onChange={({ target }) =>
                          set(
                            day,
                            spansOf(day).map((span, i) => (i === at ? [span[0], target.value] : span)),
                          )
                        }
                      />
                      <Button
                        isCompact
                        look="plain"
                        icon="close"
                        aria-label={`${name}: remove ${opening} to ${closing}`}
                        onClick={() => remove(day, at)}
                      />
                    </span>
                  ))}
                  <Button
                    isCompact
                    look="plain"
                    icon="plus"
                    aria-label={`${name}: add hours`}
                    onClick={() => add(day)}
                  />
                </div>
                <div className="week-bar" aria-hidden="true">
                  <svg viewBox={`0 0 ${dayMinutes} 6`} preserveAspectRatio="none" role="presentation">
                    {partsOf(spansOf(day), spansOf(days[(index + 6) % 7]!.day)).map(([from, to]) => (
                      <rect key={`${from}-${to}`} x={from} width={to - from} height="6" />
                    ))}
                  </svg>
                </div>
              </fieldset>
            ))}
          </div>
          <div className="row">
            <Button
              isCompact
              onClick={() => everyDay(spansOf('Mon'), ['Tue', 'Wed', 'Thu', 'Fri'])}
              title="Tuesday to Friday get the hours of Monday"
            >
              Copy Monday to weekdays
            </Button>
            <Button
              isCompact
              onClick={() =>
                everyDay(
                  spansOf('Mon'),
                  days.slice(1).map(({ day }) => day),
                )
              }
            >
              Copy Monday to all days
            </Button>
          </div>
        </>
      )}
      <ProblemText label="Operating hours" problem={problem} />
      <p className="quiet small">
        A closing at or before its opening is on the next day. Times are local to the geofence.
      </p>
    </div>
  );
}
