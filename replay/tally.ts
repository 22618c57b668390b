/** Events of a replay beside those on record, counted in all and for each geofence and beacon. Pure. */
import type { Event } from '../schemas/records.js';
import type { ComparedEvent } from './replay.js';

/** Events by where they were found. */
export type Counts = Readonly<Record<ComparedEvent['foundIn'], number>>;

export type Turn = 'entered' | 'left' | 'dwelled';
export type Turns = Readonly<Record<Turn, Counts>>;

/** A geofence or beacon that had events. */
export interface Place {
  readonly kind: 'geofence' | 'beacon';
  /** Tag and externalId, else the description. */
  readonly name: string;
  readonly turns: Turns;
}

const turnOf: Readonly<Record<string, Turn>> = {
  'user.entered_geofence': 'entered',
  'user.exited_geofence': 'left',
  'user.dwelled_in_geofence': 'dwelled',
  'user.entered_beacon': 'entered',
  'user.exited_beacon': 'left',
};

const noCounts = () => ({ both: 0, replay: 0, record: 0 });
const noTurns = () => ({ entered: noCounts(), left: noCounts(), dwelled: noCounts() });

/** `store/duomo`; what has no pair goes by its description. */
export function placeName({ geofence, beacon }: Event): string {
  const { tag, externalId, description } = geofence ?? beacon ?? { tag: null, externalId: null, description: '' };
  return tag !== null && externalId !== null ? `${tag}/${externalId}` : description;
}

export class Tally {
  readonly #places = new Map<string, Place & { readonly turns: ReturnType<typeof noTurns> }>();
  readonly #total = noTurns();
  #firsts = 0;

  add({ event, foundIn, isFirst }: ComparedEvent): void {
    const turn = turnOf[event.type] as Turn;
    this.#placeOf(event).turns[turn][foundIn] += 1;
    this.#total[turn][foundIn] += 1;
    if (isFirst) this.#firsts += 1;
  }

  /** By kind, then name. */
  get places(): readonly Place[] {
    const keyOf = ({ kind, name }: Place): string => `${kind === 'geofence' ? 0 : 1}${name}`;
    return [...this.#places.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1));
  }

  get total(): Turns {
    return this.#total;
  }

  /** Events of the replay whose cause is the first location of a device that was evaluated. */
  get firsts(): number {
    return this.#firsts;
  }

  #placeOf(event: Event) {
    const id = (event.geofence ?? event.beacon)?.id ?? '';
    const known = this.#places.get(id);
    if (known) return known;
    const place = { kind: event.geofence ? 'geofence' : 'beacon', name: placeName(event), turns: noTurns() } as const;
    this.#places.set(id, place);
    return place;
  }
}
