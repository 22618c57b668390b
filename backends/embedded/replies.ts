/**
 * Replies from the stage's thread to the thread whose requests wait, over a MessagePort; those of one turn travel as
 * one message.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Inbox, Replies } from '../../pipeline/ports.js';
import { freshId } from '../../schemas/ids.js';

/** `replyTo`, body, `replyTo`, body, … */
type Parcel = string[];

/** The sending end. Never keeps its thread alive. */
export function createReplies(port: MessagePort): Replies {
  let parcel: Parcel = [];

  function post(): void {
    port.postMessage(parcel);
    parcel = [];
  }

  return {
    send(replyTo, body) {
      if (parcel.length === 0) queueMicrotask(post);
      parcel.push(replyTo, body);
    },
  };
}

/**
 * The receiving end. Its address is new with every start of the process, so that replies to requests of an earlier run,
 * which a replay of the log sends again, are dropped. Never keeps its thread alive.
 */
export function createInbox(port: MessagePort): Inbox {
  const address = freshId();
  const prefix = `${address}/`;
  let listener: (request: string, body: string) => void = () => {};

  port.on('message', (parcel: Parcel) => {
    for (let i = 0; i < parcel.length; i += 2) {
      const replyTo = parcel[i]!;
      if (replyTo.startsWith(prefix)) listener(replyTo.slice(prefix.length), parcel[i + 1]!);
    }
  });
  port.unref();

  return {
    address,
    onReply(onReply) {
      listener = onReply;
    },
  };
}
