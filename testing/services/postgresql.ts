/** PostgreSQL for tests, where Debian's package or the PATH has its server. */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { freePorts, loopback } from './ports.js';
import { startProcess } from './processes.js';
import type { Server, Software } from './server.js';

const software: Software = { name: 'postgresql', commands: [], image: '' };

/** Debian lays the programs of the server outside of the PATH, by version. */
const ofDebian = '/usr/lib/postgresql';
const versions = existsSync(ofDebian) ? readdirSync(ofDebian).toSorted().toReversed() : [];
const folders = [
  ...versions.map((version) => join(ofDebian, version, 'bin')),
  ...(process.env.PATH ?? '').split(delimiter),
];

/** The folder of the server and of psql; undefined where they are not installed. */
const postgresqlFolder = folders.find((folder) =>
  ['initdb', 'postgres', 'psql'].every((program) => existsSync(join(folder, program))),
);

/** Tests are skipped without PostgreSQL. CI must have it. */
export const isPostgresqlMissing = process.env.CI !== 'true' && postgresqlFolder === undefined;

interface PostgresqlServer extends Server {
  /** Runs psql with such words in a folder, and returns what it printed. Rejects if a statement failed. */
  psql(cwd: string, ...words: readonly string[]): Promise<string>;
}

/** Starts a server with an empty database. Everyone on this machine may use it. */
export async function startPostgresql(): Promise<PostgresqlServer> {
  if (postgresqlFolder === undefined) throw new Error('no PostgreSQL here: apt-get install postgresql');
  const [port] = (await freePorts(1)) as [number];
  const account = { PGHOST: loopback, PGPORT: `${port}`, PGUSER: 'tests', PGDATABASE: 'postgres' };
  const program = join(postgresqlFolder, 'psql');
  const psql = async (cwd: string, ...words: readonly string[]): Promise<string> => {
    const strictly = ['--no-psqlrc', '--set=ON_ERROR_STOP=1', '--tuples-only', '--no-align', '--quiet', ...words];
    const { stdout } = await promisify(execFile)(program, strictly, { cwd, env: { ...process.env, ...account } });
    return stdout;
  };
  // It refuses to run as root.
  const script = `
    if [ "$(id -u)" = 0 ]; then
      chown nobody .
      user='setpriv --reuid=nobody --regid=nogroup --clear-groups'
    fi
    [ -d data ] || $user ${postgresqlFolder}/initdb --pgdata=data --username=tests --auth=trust --no-sync
    exec $user ${postgresqlFolder}/postgres -D data -k "$PWD" -p ${port} -c listen_addresses=$BIND -c fsync=off`;
  const ping = () => psql('/', '--command=SELECT 1');
  return Object.assign(await startProcess({ software, ports: [port], files: {}, script, ping }), { psql });
}
