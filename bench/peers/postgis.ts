/**
 * PostGIS: a table of fences with a GiST index, and a trigger on the table of locations that keeps the visits and
 * inserts entries and exits into a table of events.
 *
 * Statements go through `psql`, whose processor time is not the engine's.
 */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { freePorts, loopback } from '../../testing/services/ports.js';
import { lacking, run } from '../../testing/services/provider.js';
import type { Server, Software } from '../../testing/services/server.js';
import { usageOf } from '../usage.js';
import { type Fence, offset } from '../workloads/workload.js';
import type { Engine, Peer, Transition } from './engine.js';
import type { Scene } from './scene.js';

const rowsPerStatement = 500;
const statementsUnderWay = 4;
const postgis: Software = {
  name: 'postgis',
  commands: ['postgres', 'initdb', 'psql'],
  image: 'postgis/postgis:15-3.3',
};

/** PostgreSQL refuses to run as root. */
const asUser = process.getuid?.() === 0 ? 'setpriv --reuid=postgres --regid=postgres --clear-groups ' : '';

const schemaOf = (table: 'TABLE' | 'UNLOGGED TABLE') => `
CREATE EXTENSION postgis;
CREATE ${table} fence (id int PRIMARY KEY, box geometry, center geography, radius float8, area geometry);
CREATE INDEX ON fence USING gist (box);
CREATE ${table} visit (device int, fence int, PRIMARY KEY (device, fence));
CREATE ${table} event (id bigserial, location int, device int, fence int, kind text);
CREATE INDEX ON event (location);
CREATE ${table} location (id int, device int, point geometry);
CREATE FUNCTION moved() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  WITH inside AS MATERIALIZED (
    SELECT id FROM fence WHERE box && NEW.point
      AND CASE WHEN area IS NULL THEN ST_DWithin(center, NEW.point::geography, radius)
        ELSE ST_Covers(area, NEW.point) END
  ), gone AS (
    DELETE FROM visit WHERE device = NEW.device AND fence NOT IN (SELECT id FROM inside) RETURNING fence
  ), come AS (
    INSERT INTO visit SELECT NEW.device, id FROM inside ON CONFLICT DO NOTHING RETURNING fence
  )
  INSERT INTO event (location, device, fence, kind)
    SELECT NEW.id, NEW.device, fence, 'exit' FROM gone UNION ALL SELECT NEW.id, NEW.device, fence, 'enter' FROM come;
  RETURN NULL;
END $$;
CREATE TRIGGER moved AFTER INSERT ON location FOR EACH ROW EXECUTE FUNCTION moved();
`;

class PostgisEngine implements Engine {
  readonly #server: Server;
  readonly #port: number;
  readonly #scene: Scene;
  #psql: Psql;

  constructor(server: Server, port: number, scene: Scene) {
    this.#server = server;
    this.#port = port;
    this.#scene = scene;
    this.#psql = new Psql(port);
  }

  async create(isDurable: boolean): Promise<void> {
    await this.#psql.query(schemaOf(isDurable ? 'TABLE' : 'UNLOGGED TABLE'));
  }

  async load(fences: Iterable<Fence>): Promise<void> {
    let rows: string[] = [];
    for (const fence of fences) {
      rows.push(rowOf(fence));
      if (rows.length < rowsPerStatement) continue;
      await this.#psql.query(`INSERT INTO fence VALUES ${rows.join()};`);
      rows = [];
    }
    if (rows.length > 0) await this.#psql.query(`INSERT INTO fence VALUES ${rows.join()};`);
    await this.#psql.query('ANALYZE fence;');
  }

  async apply(from: number, to: number): Promise<void> {
    const underWay: Promise<unknown>[] = [];
    for (let start = from; start < to; start += rowsPerStatement) {
      const fixes = Array.from({ length: Math.min(rowsPerStatement, to - start) }, (_, index) => start + index);
      underWay.push(
        this.#psql.query(`INSERT INTO location VALUES ${fixes.map((fix) => this.#locationOf(fix)).join()};`),
      );
      if (underWay.length === statementsUnderWay) await underWay.shift();
    }
    await Promise.all(underWay);
  }

  async locate(fix: number): Promise<readonly Transition[]> {
    const rows = await this.#psql.query(
      `INSERT INTO location VALUES ${this.#locationOf(fix)}; SELECT fence, kind FROM event WHERE location = ${fix};`,
    );
    return rows.map((row) => {
      const [fence, kind] = row.split('|') as [string, 'enter' | 'exit'];
      return { fix, fence: Number(fence), kind };
    });
  }

  async put(fence: Fence): Promise<void> {
    await this.#psql.query(`INSERT INTO fence VALUES ${rowOf(fence)};`);
  }

  async restart(): Promise<void> {
    this.#psql.close();
    await this.#server.kill();
    await this.#server.restart();
    this.#psql = new Psql(this.#port);
  }

  usage = async () => usageOf(this.#server.pid!);

  async stop(): Promise<void> {
    this.#psql.close();
    await this.#server.stop();
  }

  #locationOf(fix: number): string {
    const { devices, longitudes, latitudes } = this.#scene.fixes;
    return `(${fix},${devices[fix]},ST_Point(${longitudes[fix]},${latitudes[fix]},4326))`;
  }
}

/** Runs statements in order, many of them under way. */
class Psql {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting: { resolve(rows: string[]): void; reject(error: Error): void }[] = [];

  /** Of the statements that are being answered. */
  readonly #rows: string[] = [];

  constructor(port: number) {
    const args = ['-h', loopback, '-p', `${port}`, '-U', 'postgres', '-qAtX', '-v', 'ON_ERROR_STOP=1', 'postgres'];
    this.#process = spawn('psql', args);
    let problem = '';
    this.#process.stderr.on('data', (data: Buffer) => {
      problem += data.toString();
    });
    this.#process.on('exit', () => {
      for (const { reject } of this.#waiting) reject(new Error(`psql ended: ${problem.slice(0, 500)}`));
    });
    this.#process.stdin.on('error', () => {});
    createInterface(this.#process.stdout).on('line', (line) => {
      if (line === 'done') this.#waiting.shift()!.resolve(this.#rows.splice(0));
      else this.#rows.push(line);
    });
  }

  query(statements: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.#process.stdin.write(`${statements}\n\\echo done\n`);
    });
  }

  close(): void {
    this.#waiting.length = 0;
    this.#process.kill();
  }
}

function rowOf({ number, center, radiusM, ring }: Fence): string {
  if (ring !== null) {
    const area = `ST_GeomFromText('POLYGON((${ring.map(([x, y]) => `${x} ${y}`).join()}))',4326)`;
    return `(${number},ST_Envelope(${area}),NULL,NULL,${area})`;
  }
  const reachM = radiusM * 1.02;
  const [east, north] = offset(center, reachM, reachM);
  const [west, south] = [2 * center[0] - east, 2 * center[1] - north];
  const box = `ST_MakeEnvelope(${west},${south},${east},${north},4326)`;
  return `(${number},${box},ST_Point(${center[0]},${center[1]},4326)::geography,${radiusM},NULL)`;
}

/** PostGIS with a trigger. */
export const postgisPeer: Peer = {
  name: 'postgis',
  about: 'a GiST index and a trigger that keeps visits; 500 locations a statement, four statements under way',
  durability: 'everything that was committed, fences and visits alike',
  semantics: 'circles on WGS84, polygons in the plane; by arrival, as our trigger is written',
  hasPolygons: true,
  install: 'apt-get install postgresql postgresql-15-postgis-3, with /usr/lib/postgresql/15/bin on the PATH; or Docker',
  lacking: () => lacking(postgis),
  version: async () => execFileSync('psql', ['--version'], { encoding: 'utf8' }).trim(),
  async start(scene, isDurable) {
    const [port] = (await freePorts(1)) as [number];
    const settings = isDurable ? '' : ' -c fsync=off -c synchronous_commit=off';
    const program = {
      software: postgis,
      ports: [port],
      files: {},
      script: `chmod 711 .
if [ ! -d data ]; then
  mkdir data; ${asUser ? 'chown postgres data' : ''}
  ${asUser}initdb -D data -A trust -U postgres -E UTF8 --locale=C >/dev/null
fi
exec ${asUser}postgres -D data -h "$BIND" -p ${port} -k "" -c shared_buffers=512MB${settings}`,
      ping: async () =>
        void execFileSync(
          'psql',
          ['-h', loopback, '-p', `${port}`, '-U', 'postgres', '-qAtXc', 'SELECT 1', 'postgres'],
          { stdio: 'pipe' },
        ),
    };
    const [server] = await run([program]);
    const engine = new PostgisEngine(server!, port, scene);
    await engine.create(isDurable);
    return engine;
  },
};
