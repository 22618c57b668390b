/**
 * Makes answers with lists in turns, a few at a time. A list may have a thousand polygons or users with their
 * geofences, which are tens of megabytes: made at once, forty of them stopped all other requests for a minute.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/access/authority.js';
import { leavingOf } from '../http/access/revocation.js';
import { createFairLimit } from '../pipeline/fair-limit.js';
import { ApiError } from '../schemas/errors.js';
import { charactersPerTurn, createTurns } from '../schemas/turns.js';

/** A page of a list, before it is text. */
export interface Page<Item> {
  readonly meta: object;
  /** The field of the answer that has the records. */
  readonly name: string;
  readonly items: readonly Item[];
  /** Returns the JSON of a record. */
  readonly text: (item: Item) => string | Promise<string>;
}

type List<Item> = Pick<Page<Item>, 'items' | 'text'>;

const nextTurn = createTurns();

/** A page has its records and its text in memory, so a larger one is refused. */
export const maxPageMib = 64;

/** Returns the error of a page that is larger than 64 MiB. */
export const pageTooLarge = (): ApiError =>
  new ApiError('query_too_large', `the answer has more than ${maxPageMib} MiB: choose a smaller \`limit\``);

/** Few clients wait longer for an answer. */
const maxWaitMs = 30_000;
const limit = {
  maxWaitingPerProject: 128,
  refusal: 'too many lists of this project are waiting',
  retryAfterS: 1,
} as const;

/** Answers that take turns with each other. Queries of history take seconds, so other answers do not wait for them. */
const making = {
  configuration: createFairLimit({ ...limit, maxRunning: 4 }),
  /** As many as the store of history serves at a time. */
  history: createFairLimit({ ...limit, maxRunning: 2, maxWaitMs }),
  /** The evaluating thread has them as well, until they are passed on. */
  search: createFairLimit({ ...limit, maxRunning: 4, maxWaitMs }),
};

/** Makes the JSON of an answer in the turn of its project, and sends it. */
export async function sendText(
  source: keyof typeof making,
  request: FastifyRequest,
  reply: FastifyReply,
  make: (leaving: AbortSignal) => Promise<string>,
): Promise<FastifyReply> {
  const leaving = leavingOf(reply);
  const text = await making[source](callerOf(request).project, () => make(leaving), leaving);
  return reply.type('application/json; charset=utf-8').send(text);
}

/** Reads a page in the turn of its project, makes its text and sends it. */
export const sendPage = <Item>(
  source: keyof typeof making,
  request: FastifyRequest,
  reply: FastifyReply,
  read: (leaving: AbortSignal) => Promise<Page<Item>>,
): Promise<FastifyReply> => sendText(source, request, reply, async (leaving) => pageText(await read(leaving), leaving));

/** Returns the JSON of a page. Rejects as {@link listText}. */
export const pageText = async <Item>({ meta, name, ...list }: Page<Item>, signal: AbortSignal): Promise<string> =>
  `{"meta":${JSON.stringify(meta)},${JSON.stringify(name)}:${await listText(list, signal)}}`;

/**
 * Returns the JSON of a list, made in turns. Rejects with the reason of the signal when it aborts, and as
 * `query_too_large` when the list has more than 64 MiB.
 */
export async function listText<Item>({ items, text }: List<Item>, signal: AbortSignal): Promise<string> {
  const texts: string[] = [];
  let characters = 0;
  let ofTurn = 0;
  for (const item of items) {
    const made = await text(item);
    texts.push(made);
    characters += made.length;
    ofTurn += made.length;
    if (characters > maxPageMib * 2 ** 20) throw pageTooLarge();
    if (ofTurn < charactersPerTurn) continue;
    await nextTurn(signal);
    ofTurn = 0;
  }
  return `[${texts.join(',')}]`;
}
