/**
 * Several shards in one engine, for the tests of tables that are spread over a cluster.
 *
 * The engine is configured with a cluster whose shards are all itself, so its Distributed tables send each query to
 * every shard and merge the answers. All shards read one table, and each sees only the rows that the Distributed table
 * would have sent to it. There is no coordination service: ON CLUSTER is removed, and replicated tables are plain ones.
 */
import { writeFileSync } from 'node:fs';
import type { Session } from 'chdb';

/** The cluster that statements name. */
export interface ShardedCluster {
  readonly name: string;
  readonly shards: number;
}

/** What makes one engine act as several shards. */
export interface Sharding {
  readonly connectionArguments: readonly string[];
  rewritten(sql: string): string;
  /** That go with every statement. */
  settings(session: Session): Promise<[string, string][]>;
  /** Told of every statement afterwards. */
  ran(sql: string): void;
}

const distributed = /^Distributed\('[^']*', '(?<database>[^']*)', '(?<table>[^']*)', (?<key>.*)\)$/;
const replicated = /ENGINE = Replicated(\w*MergeTree)\('[^']*', '[^']*'(, )?/;
const changesTables = /^\s*(--.*\n)*\s*(CREATE|DROP)\s/i;

/** Writes the engine's configuration to `file`. */
export function createSharding({ name, shards }: ShardedCluster, file: string): Sharding {
  const shard = '<shard><replica><host>127.0.0.1</host><port>9000</port></replica></shard>';
  const servers = `<remote_servers><${name}>${shard.repeat(shards)}</${name}></remote_servers>`;
  writeFileSync(file, `<clickhouse><tcp_port>9000</tcp_port>${servers}</clickhouse>`);

  async function sharesOf(session: Session): Promise<[string, string][]> {
    const question = "SELECT engine_full FROM system.tables WHERE engine = 'Distributed'";
    const tables = (await session.queryAsync(question, { format: 'TabSeparatedRaw' })).text().trim();
    const shares = tables.split('\n').flatMap((engine) => {
      const { database, table, key } = distributed.exec(engine)?.groups ?? {};
      return key === undefined ? [] : [`'${database}.${table}': '${key} % ${shards} = shardNum() - 1'`];
    });
    return shares.length === 0 ? [] : [['additional_table_filters', `{${shares.join(', ')}}`]];
  }

  let known: Promise<[string, string][]> | undefined;
  return {
    connectionArguments: [`--config-file=${file}`],
    rewritten: (sql) => sql.replace(` ON CLUSTER '${name}'`, '').replace(replicated, 'ENGINE = $1('),
    settings(session) {
      known ??= sharesOf(session);
      return known;
    },
    ran(sql) {
      if (changesTables.test(sql)) known = undefined;
    },
  };
}
