/**
 * Sockets for kafkajs that report a broken connection as closed.
 *
 * kafkajs keeps its connection objects, with the bytes of a partial response. It discards the object of a closed
 * connection, but reopens one that ended with an error, and takes the old bytes for the start of the first response.
 * Then it waits forever for a response of an absurd length, or reads beyond one and throws where nobody can catch it.
 */
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const keepAliveDelayMs = 60_000;

/** Opens a socket in the same way as kafkajs. */
const open: ISocketFactory = ({ host, port, ssl, onConnect }) =>
  ssl
    ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
    : connect({ host, port }, onConnect);

/** Opens a socket for kafkajs, which closes it. */
export const socketFactory: ISocketFactory = (options) => {
  let isConnected = false;
  const socket = open({
    ...options,
    onConnect: () => {
      isConnected = true;
      options.onConnect();
    },
  });
  // Registered before the listener of kafkajs, so that kafkajs discards the connection before it sees the error.
  socket.on('error', () => {
    if (isConnected) socket.emit('end');
  });
  return socket.setKeepAlive(true, keepAliveDelayMs);
};
