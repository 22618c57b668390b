/**
 * Sockets for kafkajs, which tell it of a broken connection as of one that was closed.
 *
 * kafkajs keeps its connection objects, and the bytes of a response that came only half. Of a connection that was
 * closed it throws the object away. One that ended with an error it opens again, and takes the old bytes for the
 * beginning of the first response: then it waits in silence for a response of some absurd length, or reads beyond one
 * and throws where nobody can catch it.
 */
import { connect, isIP } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { ISocketFactory } from 'kafkajs';

const keepAliveDelayMs = 60_000;

/** As kafkajs makes them. */
const open: ISocketFactory = ({ host, port, ssl, onConnect }) =>
  ssl
    ? connectTls({ host, port, ...(isIP(host) ? {} : { servername: host }), ...ssl }, onConnect)
    : connect({ host, port }, onConnect);

export const socketFactory: ISocketFactory = (options) => {
  let isConnected = false;
  const socket = open({
    ...options,
    onConnect: () => {
      isConnected = true;
      options.onConnect();
    },
  });
  // Registered before kafkajs' own listener: it has done away with the connection when it learns of the error.
  socket.on('error', () => {
    if (isConnected) socket.emit('end');
  });
  return socket.setKeepAlive(true, keepAliveDelayMs);
};
