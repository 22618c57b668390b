/** Tests whether TCP connections to addresses open. Distinguishes an unreachable address from a refused login. */
import { connect } from 'node:net';

interface Reached {
  /** `host:port`. */
  readonly address: string;
  /** Why no connection opens; undefined if one does. */
  readonly problem: string | undefined;
}

const defaultLimitMs = 5_000;

/** Resolves within `limitMs`, by default 5 s, with the problem if there is one. Closes the connection. */
export function reach(host: string, port: number, limitMs = defaultLimitMs): Promise<Reached> {
  const address = `${host.includes(':') ? `[${host}]` : host}:${port}`;
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const end = (problem?: string): void => {
      socket.destroy();
      resolve({ address, problem });
    };
    socket
      .once('connect', () => end())
      // After a time in which the process was busy, timers run before the connection that opened meanwhile is seen.
      .once('timeout', () => setImmediate(end, `no answer in ${limitMs / 1_000} s`))
      .once('error', (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
  });
}

/** Returns host and port of `host:port` or of an http or https URL. */
function hostAndPort(address: string): readonly [host: string, port: number] {
  const { protocol, hostname, port } = new URL(address.includes('://') ? address : `tcp://${address}`);
  const host = hostname.replace(/^\[|\]$/g, '');
  return [host, Number(port || (protocol === 'https:' ? 443 : 80))];
}

/** Tests all addresses at once, each a URL or `host:port`. */
export const reachAll = (addresses: readonly string[]): Promise<Reached[]> =>
  Promise.all(addresses.map((address) => reach(...hostAndPort(address))));

/** Lists the addresses that are out of reach, each with the reason. */
export const outOfReach = (reached: readonly Reached[]): string =>
  reached
    .filter(({ problem }) => problem !== undefined)
    .map(({ address, problem }) => `${address} (${problem})`)
    .join(', ');
