/** Returns the host at which this machine reaches a node that listens on `host`, which may stand for all addresses. */
export const reachableHost = (host: string): string => (host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host);

/** Returns the URL at which this machine reaches a node. */
export function localAddress({ host, port }: { readonly host: string; readonly port: number }): string {
  const reachable = reachableHost(host);
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}
