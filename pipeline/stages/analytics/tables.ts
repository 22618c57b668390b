/** The tables that each topic fills. */
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

async function insert({ analytics, metrics, clock }: TableParts, table: string, waiting: RowText): Promise<void> {
  if (waiting.size === 0) return;
  const { rows, size } = waiting.take();
  const startedAtMs = clock();
  await analytics.insert(table, rows);
  metrics.observe('analytics_insert_ms', clock() - startedAtMs);
  metrics.add('analytics_rows_total', size, table);
}

interface RowTableParts<T> extends TableParts {
  readonly table: string;
  readonly columns: readonly string[];
  /** The columns' values in their order; undefined for what the table is not about. */
  readonly row: (value: T) => string | undefined;
}

/** Topics that fill one table, with a row for each record. */
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

  take(value: T): void {
    const row = this.#parts.row(value);
    if (row !== undefined) this.#rows.add(row);
  }

  async store(): Promise<boolean> {
    await insert(this.#parts, this.#parts.table, this.#rows);
    return true;
  }
}

/** So few users are written with every batch, that they may be found at once. */
const fewUsers = 1_000;
/** So many are written even if they were written a moment ago. */
const manyUsers = 200_000;

interface OutcomeTableParts extends TableParts {
  readonly codec: Codec<Outcome>;
  readonly usersEveryMs: number;
}

/**
 * Topic `outcomes`: a row per location, and one per user whose location was applied. A user's row replaces the one
 * before, so of each user only the newest is kept until `usersEveryMs` have passed.
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

  take(outcome: Outcome, frame: Buffer): void {
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
    const { waiting } = this.#users;
    if (waiting <= fewUsers || waiting >= manyUsers) return true;
    return this.#parts.clock() - this.#usersStoredAtMs >= this.#parts.usersEveryMs;
  }

  #takeUsers(): RowText {
    const rows = new RowText(userColumns);
    this.#users.takeAll((frame) => rows.add(userRow(this.#parts.codec.decode(frame))));
    this.#usersStoredAtMs = this.#parts.clock();
    return rows;
  }
}
