/**
 * Opens one TCP connection, with TLS for https, to an allowed address.
 *
 * Input: a host and port. Output: a connected socket, or an {@link OutboundError}. The lookup has refused addresses
 * already. The address that the socket is connected to is checked again before a byte is sent, so no notation of an
 * address passes. Proxies of the environment are ignored.
 */
import { isIP, type LookupFunction, connect as netConnect, type Socket } from 'node:net';
import { type SecureContext, connect as tlsConnect } from 'node:tls';
import type { buildConnector } from 'undici';
import { isRefused, type Networks } from './addresses.js';
import { connectFailure, OutboundError, tlsFailure } from './failures.js';

/**
 * Time limit per address of a name, except the last. Node's default of 250 ms gives up every address with a slow round
 * trip (nodejs/node#54359).
 */
const attemptTimeoutMs = 1_000;

/** Which addresses may be reached, and how names and certificates are checked. */
export interface ConnectorParts {
  readonly allowed: Networks;
  /** Returns all allowed addresses of a name. Not called for addresses. */
  readonly lookup: LookupFunction;
  readonly secureContext: SecureContext;
}

/** Where a connection goes to, from the URL of a request. */
export interface Destination {
  readonly secure: boolean;
  /** A name or an address; IPv6 without brackets. */
  readonly hostname: string;
  readonly port: number;
}

const tcpKeepAliveInitialDelayMs = 60_000;

/**
 * Connects and calls back once. If the socket is destroyed before, there is no callback. Has no overall time limit.
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
  // The other side has reset the connection already.
  if (remoteAddress === undefined) return new OutboundError('connection_failed', 'the connection was closed at once');
  if (!isRefused(remoteAddress, allowed)) return undefined;
  return new OutboundError('address_refused', 'the address is private, loopback or otherwise reserved');
}

/**
 * Starts TLS; errors from here on are TLS failures. The certificate is verified whatever NODE_TLS_REJECT_UNAUTHORIZED
 * says.
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
  // The TLS socket reports errors of the TCP socket.
  socket.on('error', () => undefined);
  const fail = (error: Error) => callback(tlsFailure(error), null);
  secured.once('error', fail);
  secured.once('secureConnect', () => {
    secured.off('error', fail);
    callback(null, secured);
  });
}
