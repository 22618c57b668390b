/**
 * Runs statements in the chDB engine of this process, each on a connection of its own, as a server runs each request.
 *
 * Input: statements, and their data as a stream. Output: whole answers, because the engine's own streams repeat a
 * format's header with every block.
 */
import { createWriteStream, mkdirSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Session } from 'chdb';
import { identifier, literal } from '../../../schemas/sql.js';
import type { FrontRequest } from './front-request.js';
import type { Sharding } from './front-sharding.js';

interface Answer {
  readonly bytes: Uint8Array;
  readonly rowsRead: number;
}

/** The engine behind the front. */
export interface Engine {
  readonly version: string;
  /** Rejects with ClickHouse's own message. The signal cancels the statement. */
  run(request: FrontRequest, signal?: AbortSignal): Promise<Answer>;
}

/** A server's default limits. */
const maxQueryBytes = 2 ** 18;
const maxValuesBytes = 2 ** 27;

const assigned = (values: Iterable<readonly [string, string]>): string =>
  `SET ${Array.from(values, ([key, value]) => `${identifier(key)} = ${literal(value)}`).join(', ')}`;

/** Opens the engine in a folder. A process can have one open. */
export async function startEngine(folder: string, sharding: Sharding | undefined): Promise<Engine> {
  const data = resolve(folder);
  const inserts = join(data, 'inserts');
  rmSync(inserts, { recursive: true, force: true });
  mkdirSync(inserts, { recursive: true });
  const open = (): Session => new Session(data, { connectionArgs: sharding?.connectionArguments ?? [] });
  // This connection keeps the engine open.
  const first = open();
  const version = (await first.queryAsync('SELECT version()', { format: 'TabSeparated' })).text().trim();

  async function prepare(session: Session, { database, settings, parameters }: FrontRequest): Promise<void> {
    const shards = (await sharding?.settings(first)) ?? [];
    const statements = [
      // A server does not count values as part of the query.
      assigned([['max_query_size', `${maxValuesBytes}`]]),
      ...(parameters.size > 0 ? [assigned(parameters)] : []),
      assigned([['max_query_size', `${maxQueryBytes}`], ...shards, ...settings]),
      ...(database === undefined ? [] : [`USE ${identifier(database)}`]),
    ];
    await session.queryAsync(statements.join('; '));
  }

  let inserted = 0;

  const markOf = (queryId: string): string => `/* ${queryId} */ `;
  const kill = (queryId: string) =>
    first.queryAsync(`KILL QUERY WHERE startsWith(query, ${literal(markOf(queryId))}) ASYNC`).catch(() => undefined);

  async function execute(session: Session, { queryId, sql, data: rows }: FrontRequest): Promise<Answer> {
    const statement = sharding?.rewritten(sql) ?? sql;
    if (rows === undefined) return answered(session, `${markOf(queryId)}${statement}`);
    const file = join(inserts, `${inserted++}`);
    try {
      await pipeline(rows.stream, createWriteStream(file));
      return await answered(session, `${statement} FROM INFILE ${literal(file)} FORMAT ${rows.format}`);
    } finally {
      await rm(file, { force: true });
    }
  }

  return {
    version,
    async run(request, signal) {
      const session = open();
      const cancel = () => void kill(request.queryId);
      try {
        await prepare(session, request);
        signal?.throwIfAborted();
        signal?.addEventListener('abort', cancel);
        return await execute(session, request);
      } finally {
        signal?.removeEventListener('abort', cancel);
        session.close();
        sharding?.ran(request.sql);
      }
    },
  };
}

async function answered(session: Session, sql: string): Promise<Answer> {
  const result = await session.queryAsync(sql, { format: 'TabSeparated' });
  return { bytes: result.bytes(), rowsRead: result.rowsRead };
}
