/**
 * A name server (RFC 1035) scripted by the test: over UDP, on loopback, one question per message.
 *
 * It records its questions, so that a test can check that a question was not repeated.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv4 } from 'node:net';
import { onTestFinished } from 'vitest';

/** A question as the server received it. */
export interface Question {
  readonly name: string;
  readonly type: 'A' | 'AAAA';
  /** The raw message. */
  readonly message: Buffer;
}

/** Returns the message to send back, now or later, or none. */
export type Answering = (question: Question) => Buffer | undefined | Promise<Buffer>;

/** A running name server. */
export interface NameServer {
  /** As for `dns.setServers`. */
  readonly address: string;
  /** Questions such as "A receiver.test", in order of arrival. */
  readonly asked: readonly string[];
}

/** Opens a name server; closed when the test ends. */
export async function openNameServer(answering: Answering): Promise<NameServer> {
  const asked: string[] = [];
  const socket = createSocket('udp4');
  let isOpen = true;
  socket.on('message', (message, { port, address }) => {
    const question = questionOf(message);
    asked.push(`${question.type} ${question.name}`);
    void Promise.resolve(answering(question)).then((answer) => {
      if (answer !== undefined && isOpen) socket.send(answer, port, address);
    });
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  onTestFinished(() => {
    isOpen = false;
    socket.close();
  });
  return { address: `127.0.0.1:${socket.address().port}`, asked };
}

/** Responds with the addresses of each name, or never. Other names don't exist. */
export const zone =
  (names: Readonly<Record<string, readonly string[] | 'silence'>>, ttlSeconds = 60): Answering =>
  (question) => {
    const addresses = names[question.name];
    if (addresses === 'silence') return undefined;
    return addresses === undefined ? failure(question, rcodes.NXDOMAIN) : success(question, addresses, ttlSeconds);
  };

/** Response codes (RFC 1035, section 4.1.1). */
export const rcodes = { FORMERR: 1, SERVFAIL: 2, NXDOMAIN: 3, NOTIMP: 4, REFUSED: 5 };

/** Builds a response without records that has the code. */
export const failure = ({ message }: Question, rcode: number): Buffer =>
  Buffer.concat([header(message, rcode, 0), questionBytes(message)]);

/** Builds a response with the addresses of the requested type, if any. */
export function success({ type, message }: Question, addresses: readonly string[], ttlSeconds: number): Buffer {
  const asked = addresses.filter((address) => isIPv4(address) === (type === 'A'));
  const records = asked.map((address) => record(type, bytesOf(address), ttlSeconds));
  return Buffer.concat([header(message, 0, records.length), questionBytes(message), ...records]);
}

const headerBytes = 12;

/** Builds the header of a response; recursion desired and available. */
const header = (message: Buffer, rcode: number, answers: number): Buffer =>
  Buffer.from([message[0]!, message[1]!, 0x81, 0x80 | rcode, 0, 1, 0, answers, 0, 0, 0, 0]);

/** Returns the bytes of the question: length-prefixed labels up to the empty one, then type and class. */
function questionBytes(message: Buffer): Buffer {
  const end = message.indexOf(0, headerBytes) + 5;
  return message.subarray(headerBytes, end);
}

function questionOf(message: Buffer): Question {
  const bytes = questionBytes(message);
  const labels: string[] = [];
  for (let at = 0; bytes[at] !== 0; at += bytes[at]! + 1)
    labels.push(bytes.toString('latin1', at + 1, at + 1 + bytes[at]!));
  return { name: labels.join('.'), type: bytes.readUInt16BE(bytes.length - 4) === 28 ? 'AAAA' : 'A', message };
}

/** Builds a record whose name refers to that of the question. */
function record(type: 'A' | 'AAAA', data: Buffer, ttlSeconds: number): Buffer {
  const head = Buffer.from([0xc0, headerBytes, 0, type === 'A' ? 1 : 28, 0, 1, 0, 0, 0, 0, 0, data.length]);
  head.writeUInt32BE(ttlSeconds, 6);
  return Buffer.concat([head, data]);
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [head = [], tail = []] = address.split('::').map((side) => side.split(':').filter((group) => group !== ''));
  const zeros = Array<string>(8 - head.length - tail.length).fill('0');
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
