import { once } from 'node:events';
import { connect } from 'node:net';

/** Sends the first part of a POST to this machine, and leaves once the server reads the rest. */
export async function cutOffRequest(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write('POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n');
  await once(socket, 'data');
  socket.write('half');
  socket.destroySoon();
  await once(socket, 'close');
}
