/** Stands before an HTTP server that can't demand credentials or TLS, and does. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as requestOf, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { ServerTls } from './certificates.js';
import { type Address, loopback } from './ports.js';

interface BasicAuth {
  readonly username: string;
  readonly password: string;
}

/** A running front. */
export interface Front {
  /** Without a path. */
  readonly url: string;
  stop(): Promise<void>;
}

/** What the front demands of clients. */
export interface FrontSettings {
  readonly basicAuth?: BasicAuth | undefined;
  readonly tls?: ServerTls | undefined;
}

/** Starts a front on loopback. It answers 401 without the right credentials. */
export async function startFront(target: Address, { basicAuth, tls }: FrontSettings): Promise<Front> {
  const expected =
    basicAuth && `Basic ${Buffer.from(`${basicAuth.username}:${basicAuth.password}`).toString('base64')}`;
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    if (expected === undefined || request.headers.authorization === expected) handOn(target, request, response);
    else response.writeHead(401, { 'www-authenticate': 'Basic realm="registry"' }).end();
  };
  const server = tls ? createTlsServer(tlsOptions(tls), answer) : createServer(answer);
  server.listen(0, loopback);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `${tls ? 'https' : 'http'}://${loopback}:${port}`,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

const tlsOptions = ({ certificates: { ca, server }, demandsClientCertificate = false }: ServerTls) => ({
  ca,
  ...server,
  requestCert: demandsClientCertificate,
  rejectUnauthorized: demandsClientCertificate,
});

/** A target that is down or cuts off looks to the client as if the front itself had. */
function handOn(target: Address, request: IncomingMessage, response: ServerResponse): void {
  const { method, url: path, headers } = request;
  const onward = requestOf({ ...target, method, path, headers, agent: false });
  const cutOff = () => response.destroy();
  onward.on('error', cutOff);
  onward.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    pipeline(answer, response, () => undefined);
  });
  pipeline(request, onward, () => undefined);
}
