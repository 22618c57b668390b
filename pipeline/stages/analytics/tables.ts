/** Buffers of rows: the tables that each topic fills. */
import type { Codec } from '../../../schemas/codecs.js';
import { hasElapsed } from '../../../schemas/durations.js';
import type { Columns, Rows } from '../../../schemas/native.js';
import type { OutcomeFrame } from '../../../schemas/outcome-frame.js';
import type { Outcome } from '../../../schemas/records.js';
import { addLocation, addUser, newLocationRows, newUserRows } from '../../../schemas/table-rows.js';
import type { Analytics } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import { LatestFrames } from './latest-frames.js';
import type { Tables } from './topic-sink.js';

interface TableParts {
  readonly analytics: Analytics;
  /** After it aborts, a failed insert is not repeated. */
  readonly givingUp: AbortSignal;
  readonly metrics: Metrics;
  readonly clock: () => number;
}

async function insert(
  { analytics, givingUp, metrics, clock }: TableParts,
  table: string,
  buffered: Rows<Columns>,
): Promise<void> {
  if (buffered.size === 0) return;
  const { rows, size } = buffered.take();
  const startedAtMs = clock();
  await analytics.insert(table, rows, givingUp);
  metrics.observe('analytics_insert_seconds', (clock() - startedAtMs) / 1_000);
  metrics.add('analytics_rows_total', size, table);
}

interface RowTableParts<T, Table extends Columns> extends TableParts {
  readonly table: string;
  readonly rows: Rows<Table>;
  /** Adds the row of a value, if the table stores it. */
  readonly add: (rows: Rows<Table>, value: T) => void;
}

/** A topic that fills one table with a row per record. */
export class RowTable<T extends object, Table extends Columns> implements Tables<T> {
  readonly #parts: RowTableParts<T, Table>;

  constructor(parts: RowTableParts<T, Table>) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#parts.rows.size;
  }

  get bytes(): number {
    return this.#parts.rows.maxBytes;
  }

  add(value: T): void {
    this.#parts.add(this.#parts.rows, value);
  }

  async store(): Promise<boolean> {
    await insert(this.#parts, this.#parts.table, this.#parts.rows);
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
export class OutcomeTables implements Tables<OutcomeFrame> {
  readonly #parts: OutcomeTableParts;
  readonly #locations = newLocationRows();
  readonly #userRows = newUserRows();
  readonly #users = new LatestFrames(manyUsers);
  #usersStoredAtMs = 0;

  constructor(parts: OutcomeTableParts) {
    this.#parts = parts;
  }

  get size(): number {
    return this.#locations.size;
  }

  get bytes(): number {
    return this.#locations.maxBytes;
  }

  add(outcome: OutcomeFrame, frame: Buffer): void {
    addLocation(this.#locations, outcome);
    if (outcome.result === 'applied') this.#users.set(outcome.userKey, frame);
  }

  async store(all: boolean): Promise<boolean> {
    const areUsersDue = all || this.#areUsersDue();
    if (areUsersDue) this.#takeUsers();
    await insert(this.#parts, 'locations', this.#locations);
    if (!areUsersDue) return false;
    await insert(this.#parts, 'users', this.#userRows);
    return true;
  }

  #areUsersDue(): boolean {
    const { pending } = this.#users;
    if (pending <= fewUsers || pending >= manyUsers) return true;
    return hasElapsed(this.#parts.usersEveryMs, this.#usersStoredAtMs, this.#parts.clock());
  }

  #takeUsers(): void {
    this.#users.takeAll((frame) => addUser(this.#userRows, this.#parts.codec.decode(frame)));
    this.#usersStoredAtMs = this.#parts.clock();
  }
}
