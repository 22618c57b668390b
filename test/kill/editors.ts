/** Clients that edit the same few geofences and beacons side by side, in every way that the API has. */
import { EventEmitter } from 'node:events';
import { createRandom, type Random } from '../../schemas/random.js';
import type { Edit } from '../ledger/edits.js';
import type { Answer, Client } from '../support/client.js';
import { at } from '../support/places.js';

type Kind = 'geofences' | 'beacons';
export const kinds: readonly Kind[] = ['geofences', 'beacons'];
const pairsPerKind = 4;
const places = 3;
const radiusM = 100;
const tag = 'fought-over';

/** Returns the name of a record in the ledger: its kind, tag and external id. */
export const pairOf = (kind: Kind, externalId: string): string => `${kind}/${tag}/${externalId}`;

/** Every place where a geofence may stand, in metres east and north. They are apart from each other. */
export const spots = Array.from({ length: pairsPerKind * places }, (_, spot): [number, number] => [
  Math.floor(spot / places) * 1_000,
  (spot % places) * 1_000,
]);

interface Planned {
  readonly pair: string;
  readonly value: string | null;
  readonly fields: { readonly tag: string; readonly externalId: string; readonly [field: string]: unknown };
}

/** What a client has read of a record, and keeps while it makes other edits. */
interface Known {
  readonly id: string;
  readonly etag: string;
  readonly readAt: number;
}

/** How an edit ended. Without an answer, or when the server had trouble, nobody knows. */
function outcomeOf(answer: Answer | undefined): Edit['outcome'] {
  if (answer === undefined || answer.status >= 500) return 'unknown';
  return answer.status < 300 ? 'applied' : 'refused';
}

const revisionOf = ({ headers }: Answer): number | undefined => {
  const found = /^"r(\d+)"$/.exec(headers.get('etag') ?? '');
  return found ? Number(found[1]) : undefined;
};

export class Editors {
  readonly edits: Edit[] = [];
  /** Answered edits. */
  answered = 0;
  /** Emits `sent` when an edit has been sent, so that it has no answer yet. */
  readonly progress = new EventEmitter<{ sent: [] }>();
  readonly #client: () => Client;
  #values = 0;

  /** @param client returns the one with the key of the moment. */
  constructor(client: () => Client) {
    this.#client = client;
  }

  /** Edits in turn until `isOver`. */
  async edit(seed: number, isOver: () => boolean): Promise<void> {
    const random = createRandom(seed);
    const known = new Map<string, Known>();
    while (!isOver()) await this.#editOnce(random, known);
  }

  /** Imports files with a row for each pair, one after the other, until `isOver`. */
  async import(seed: number, isOver: () => boolean): Promise<void> {
    const random = createRandom(seed);
    while (!isOver()) {
      const kind = random.pick(kinds);
      const rows = Array.from({ length: pairsPerKind }, (_, number) => this.#plan(kind, number, random));
      const body = rows.map(({ fields }) => `${JSON.stringify(fields)}\n`).join('');
      const sending = { body, headers: { 'content-type': 'application/x-ndjson' } };
      const isDone = (answer: Answer) => {
        const { status, rejected } = answer.body.import ?? {};
        if (answer.status === 200 && status === 'completed' && rejected === 0) return 'applied';
        return answer.status === 401 || answer.status === 409 ? 'refused' : 'unknown';
      };
      await this.#record(rows, () => this.#client().send('POST', `/v1/${kind}/import?wait=60`, sending), isDone);
    }
  }

  async #editOnce(random: Random, known: Map<string, Known>): Promise<void> {
    const kind = random.pick(kinds);
    const number = random.integer(0, pairsPerKind - 1);
    const planned = this.#plan(kind, number, random);
    const path = `/v1/${kind}/${tag}/${number}`;
    const deletion = { ...planned, value: null };
    const client = this.#client();
    const way = random.pick([
      'put',
      'put',
      'put if unchanged',
      'delete',
      'delete if unchanged',
      'delete many',
      'batch',
    ]);
    if (way === 'put') return this.#record([planned], () => client.put(path, planned.fields));
    if (way === 'delete') return this.#record([deletion], () => client.delete(path));
    if (way === 'batch') {
      const rows = [planned, this.#plan(kind, (number + 1) % pairsPerKind, random)];
      const body = { [kind]: rows.map(({ fields }) => fields) };
      const isDone = (answer: Answer) => (answer.body.rejected > 0 ? 'unknown' : outcomeOf(answer));
      return this.#record(rows, () => client.post(`/v1/${kind}/batch`, body), isDone);
    }
    const before = known.get(path);
    if (before === undefined) {
      const read = await client.get(path).catch(() => undefined);
      if (read?.status !== 200) return;
      const { _id } = read.body[kind.slice(0, -1)];
      known.set(path, { id: _id, etag: read.headers.get('etag') ?? '', readAt: performance.now() });
      return;
    }
    known.delete(path);
    if (way === 'delete many') {
      const body = { action: 'delete', ids: [before.id] };
      const isDone = (answer: Answer) => (answer.body.changed === 0 ? 'refused' : outcomeOf(answer));
      return this.#record([deletion], () => client.post(`/v1/${kind}/bulk`, body), isDone);
    }
    const { etag, readAt } = before;
    const headers = { 'if-match': etag };
    if (way === 'put if unchanged')
      return this.#record(
        [planned],
        () => client.send('PUT', path, { body: planned.fields, headers }),
        outcomeOf,
        readAt,
      );
    return this.#record([deletion], () => client.send('DELETE', path, { headers }), outcomeOf, readAt);
  }

  /** Plans to write a value that no other edit writes. */
  #plan(kind: Kind, number: number, random: Random): Planned {
    const value = `value ${this.#values++}`;
    const externalId = `${number}`;
    const common = { tag, externalId, description: value };
    const spot = random.pick(spots.filter(([eastM]) => eastM === number * 1_000));
    const fields =
      kind === 'geofences'
        ? { ...common, type: 'circle', coordinates: at(...spot), radius: radiusM }
        : {
            ...common,
            type: 'eddystone',
            uid: '00112233445566778899',
            instance: `00000000000${number}`,
            coordinates: at(...spot),
          };
    return { pair: pairOf(kind, externalId), value, fields };
  }

  async #record(
    planned: readonly Planned[],
    send: () => Promise<Answer>,
    outcome: (answer: Answer) => Edit['outcome'] = outcomeOf,
    readAt?: number,
  ): Promise<void> {
    const begunAt = performance.now();
    const answering = send();
    this.progress.emit('sent');
    const answer = await answering.catch(() => undefined);
    const endedAt = performance.now();
    if (answer !== undefined) this.answered += 1;
    for (const { pair, value } of planned) {
      const edit = { pair, value, begunAt, endedAt, readAt };
      if (answer === undefined) this.edits.push({ ...edit, outcome: 'unknown' });
      else this.edits.push({ ...edit, outcome: outcome(answer), revision: revisionOf(answer) });
    }
  }
}
