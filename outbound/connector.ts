/**
 * Makes one TCP connection, with TLS for https, to an address that may be connected to.
 *
 * Flows in: a host and port. Flows out: a socket to send on, or an {@link OutboundError}. The lookup has refused what
 * it had to; the address that the socket ended up with is judged once more before a byte is sent, so that no way of
 * writing an address gets by. Proxies of the environment play no part.
 */
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import type { buildConnector } from 'undici';
import { isRefused, type Networks } from './addresses.js';
import { connectFailure, OutboundError, tlsFailure } from './failures.js';

/**
 * Of each address of a name but the last: Node's own 250 ms would give up every address beyond a slow round trip
 * (nodejs/node#54359).
 */
const attemptTimeoutMs = 1_000;

export interface ConnectorParts {
  readonly allowed: Networks;
  /** Gives all acceptable addresses of a name. Not asked for addresses. */
  readonly lookup: LookupFunction;
  readonly secureContext: SecureContext;
}

export interface Destination {
  readonly secure: boolean;
  /** A name or an address; version 6 without brackets. */
  readonly hostname: string;
  readonly port: number;
}

const tcpKeepAliveInitialDelayMs = 60_000;

/**
 * Calls back once. The socket may be destroyed before that, which ends the attempt without a call. No time limit of its
 * own.
 */
export function connect(to: Destination, parts: ConnectorParts, callback: buildConnector.Callback): Socket {
  const socket = netConnect({
    host: to.hostname,
    port: to.port,
    lookup: parts.lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: tcpKeepAliveInitialDelayMs,
  });
  const fail = (error: Error) => callback(error instanceof OutboundError ? error : connectFailure(error), null);
  socket.once('error', fail);
  socket.once('connect', () => {
    const refusal = refusalOf(socket, parts.allowed);
    if (refusal !== undefined) {
      socket.destroy(refusal);
      return;
    }
    socket.off('error', fail);
    if (to.secure) secure(socket, to.hostname, parts.secureContext, callback);
    else callback(null, socket);
  });
  return socket;
}

function refusalOf({ remoteAddress }: Socket, allowed: Networks): OutboundError | undefined {
  // Reset by the other side before we looked.
  if (remoteAddress === undefined) return new OutboundError('connection_failed', 'the connection was closed at once');
  if (!isRefused(remoteAddress, allowed)) return undefined;
  return new OutboundError('address_refused', 'the address is private, loopback or otherwise reserved');
}

/**
 * Whatever goes wrong from here on is a failure of TLS. The certificate is checked whatever
 * NODE_TLS_REJECT_UNAUTHORIZED says.
 */
function secure(
  socket: Socket,
  hostname: string,
  secureContext: SecureContext,
  callback: buildConnector.Callback,
): void {
  const secured = tlsConnect({
    socket,
    secureContext,
    host: hostname,
    servername: isIP(hostname) === 0 ? hostname : '',
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: true,
  });
  // What happens to the connection below is told by the one above it.
  socket.on('error', () => undefined);
  const fail = (error: Error) => callback(tlsFailure(error), null);
  secured.once('error', fail);
  secured.once('secureConnect', () => {
    secured.off('error', fail);
    callback(null, secured);
  });
}
