/** Counts replayed and recorded events in total and for each geofence and beacon. Pure. */
import type { Event } from '../schemas/records.js';
import type { ComparedEvent } from './replay.js';

/** Numbers of events in the replay, on record, or in both. */
export type Counts = Readonly<Record<ComparedEvent['foundIn'], number>>;

type TransitionKind = 'entered' | 'left' | 'dwelled';
/** Counts of events by what they say. */
export type TransitionCounts = Readonly<Record<TransitionKind, Counts>>;

/** A geofence or beacon with events. */
export interface Place {
  readonly kind: 'geofence' | 'beacon';
  /** Tag and external id, else the description. */
  readonly name: string;
  readonly transitions: TransitionCounts;
}

const kindOf: Readonly<Record<string, TransitionKind>> = {
  'user.entered_geofence': 'entered',
  'user.exited_geofence': 'left',
  'user.dwelled_in_geofence': 'dwelled',
  'user.entered_beacon': 'entered',
  'user.exited_beacon': 'left',
};

const noCounts = () => ({ both: 0, replay: 0, record: 0 });
const noTransitions = () => ({ entered: noCounts(), left: noCounts(), dwelled: noCounts() });

/** Returns tag and external id such as `store/duomo`, or else the description. */
export function placeName({ geofence, beacon }: Event): string {
  const { tag, externalId, description } = geofence ?? beacon ?? { tag: null, externalId: null, description: '' };
  return tag !== null && externalId !== null ? `${tag}/${externalId}` : description;
}

/** Counts compared events as they come. */
export class Tally {
  readonly #places = new Map<string, Place & { readonly transitions: ReturnType<typeof noTransitions> }>();
  readonly #total = noTransitions();
  #firsts = 0;

  /** Counts one event where it was found: in the replay, the record, or both. */
  add({ event, foundIn, isFirst }: ComparedEvent): void {
    const kind = kindOf[event.type] as TransitionKind;
    this.#placeOf(event).transitions[kind][foundIn] += 1;
    this.#total[kind][foundIn] += 1;
    if (isFirst) this.#firsts += 1;
  }

  /** The places by kind, then by name. */
  get places(): readonly Place[] {
    const keyOf = ({ kind, name }: Place): string => `${kind === 'geofence' ? 0 : 1}${name}`;
    return [...this.#places.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  /** Returns the counts of all places together. */
  get total(): TransitionCounts {
    return this.#total;
  }

  /** Number of replayed events that the first evaluated location of a device caused. */
  get firsts(): number {
    return this.#firsts;
  }

  #placeOf(event: Event) {
    const id = (event.geofence ?? event.beacon)?.id ?? '';
    const known = this.#places.get(id);
    if (known) return known;
    const place = {
      kind: event.geofence ? 'geofence' : 'beacon',
      name: placeName(event),
      transitions: noTransitions(),
    } as const;
    this.#places.set(id, place);
    return place;
  }
}
