/** Prometheus for tests, with a given configuration. */
import { freePorts, loopback } from './ports.js';
import { run } from './provider.js';
import type { Server, Software } from './server.js';

/** An image of the version in docker-compose.yml. */
export const prometheus: Software = { name: 'prometheus', commands: ['prometheus'], image: 'prom/prometheus:v3.5.0' };

/** A series at one moment: its labels, the time in seconds, and the value. */
interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [number, string];
}

interface Rule {
  readonly name: string;
  readonly health: 'ok' | 'err' | 'unknown';
  readonly lastError?: string;
}

/** A running Prometheus. */
export interface PrometheusServer extends Server {
  /** Evaluates an expression now. Rejects with Prometheus' message if it has an error or a warning. */
  query(expression: string): Promise<readonly Sample[]>;
  /** Returns all rules of all groups. */
  rules(): Promise<readonly Rule[]>;
}

interface Reply<T> {
  /** Undefined after an error. */
  readonly data?: T;
  readonly error?: string;
  readonly warnings?: readonly string[];
}

/** Starts Prometheus on files by name, of which `prometheus.yml` is the configuration. */
export async function startPrometheus(files: Readonly<Record<string, string>>): Promise<PrometheusServer> {
  const [port] = (await freePorts(1)) as [number];
  async function get<T>(path: string): Promise<T> {
    const response = await fetch(`http://${loopback}:${port}/${path}`);
    const { data, error = '', warnings = [] } = (await response.json()) as Reply<T>;
    if (data === undefined || warnings.length > 0) throw new Error([error, ...warnings].join('; '));
    return data;
  }
  const rules = async (): Promise<readonly Rule[]> => {
    const { groups } = await get<{ groups: readonly { rules: readonly Rule[] }[] }>('api/v1/rules');
    return groups.flatMap((group) => group.rules);
  };
  const script =
    'exec prometheus --config.file=prometheus.yml --storage.tsdb.path=data --log.level=warn ' +
    `--web.listen-address=$BIND:${port}`;
  const [server] = (await run([{ software: prometheus, ports: [port], files, script, ping: rules }])) as [Server];
  return Object.assign(server, {
    rules,
    query: async (expression: string): Promise<readonly Sample[]> => {
      const { result } = await get<{ result: readonly Sample[] }>(
        `api/v1/query?${new URLSearchParams({ query: expression })}`,
      );
      return result;
    },
  });
}
