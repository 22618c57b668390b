/** Buffers of rows: the tables that each topic fills. */
import type { Codec } from '../../../schemas/codecs.js';
import type { Outcome } from '../../../schemas/records.js';
import { locationColumns, locationRow, userColumns, userRow } from '../../../schemas/table-rows.js';
import { RowText } from '../../../schemas/tsv.js';
import type { Analytics } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import { LatestFrames } from './latest-frames.js';
import type { Tables } from './topic-sink.js';

interface TableParts {
  readonly analytics: Analytics;
  readonly metrics: Metrics;
  readonly clock: () => number;
}

async function insert({ analytics, metrics, clock }: TableParts, table: string, buffered: RowText): Promise<void> {
  if (buffered.size === 0) return;
  const { rows, size } = buffered.take();
  const startedAtMs = clock();
  await analytics.insert(table, rows);
  metrics.observe('analytics_insert_seconds', (clock() - startedAtMs) / 1_000);
  metrics.add('analytics_rows_total', size, table);
}

interface RowTableParts<T> extends TableParts {
  readonly table: string;
  readonly columns: readonly string[];
  /** Returns the values in order of the columns; undefined for a value that the table doesn't store. */
  readonly row: (value: T) => string | undefined;
}

/** A topic that fills one table with a row per record. */
export class RowTable<T extends object> implements Tables<T> {
  readonly #parts: RowTableParts<T>;
  readonly #rows: RowText;

  constructor(parts: RowTableParts<T>) {
    this.#parts = parts;
    this.#rows = new RowText(parts.columns);
  }

  get size(): number {
    return this.#rows.size;
  }

  add(value: T): void {
    const row = this.#parts.row(value);
    if (row !== undefined) this.#rows.add(row);
  }

  async store(): Promise<boolean> {
    await insert(this.#parts, this.#parts.table, this.#rows);
    return true;
  }
}

/** Up to this many users are written with every insert, so that they can be queried soon. */
const fewUsers = 1_000;
/** From this many on, users are written even before `usersEveryMs` have passed. */
const manyUsers = 200_000;

interface OutcomeTableParts extends TableParts {
  readonly codec: Codec<Outcome>;
  readonly usersEveryMs: number;
}

/**
 * Topic `outcomes`: a row per location, and a row per user whose location was applied. A user's row replaces the
 * previous one, so only the newest row per user is buffered until `usersEveryMs` have passed.
 */
export class OutcomeTables implements Tables<Outcome> {
  readonly #parts: OutcomeTableParts;
  readonly #locations = new RowText(locationColumns);
  readonly #users = new LatestFrames(manyUsers);
  #usersStoredAtMs = 0;

  constructor(parts: OutcomeTableParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#locations.size;
  }

  add(outcome: Outcome, frame: Buffer): void {
    this.#locations.add(locationRow(outcome));
    if (outcome.result === 'applied') this.#users.set(outcome.user, frame);
  }

  async store(all: boolean): Promise<boolean> {
    const users = all || this.#areUsersDue() ? this.#takeUsers() : undefined;
    await insert(this.#parts, 'locations', this.#locations);
    if (users === undefined) return false;
    await insert(this.#parts, 'users', users);
    return true;
  }

  #areUsersDue(): boolean {
    const { pending } = this.#users;
    if (pending <= fewUsers || pending >= manyUsers) return true;
    return this.#parts.clock() - this.#usersStoredAtMs >= this.#parts.usersEveryMs;
  }

  #takeUsers(): RowText {
    const rows = new RowText(userColumns);
    this.#users.takeAll((frame) => rows.add(userRow(this.#parts.codec.decode(frame))));
    this.#usersStoredAtMs = this.#parts.clock();
    return rows;
  }
}
