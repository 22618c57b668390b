/** Replies from the stage's thread to the HTTP thread over a MessagePort. Replies of one turn share a message. */
import type { MessagePort } from 'node:worker_threads';
import type { Inbox, Replies } from '../../pipeline/ports.js';
import { freshId } from '../../schemas/ids.js';

/** `replyTo`, body, `replyTo`, body, … */
type Message = string[];

/** Creates the sender. It does not keep its thread alive. */
export function createReplies(port: MessagePort): Replies {
  let message: Message = [];

  function post(): void {
    port.postMessage(message);
    message = [];
  }

  return {
    send(replyTo, body) {
      if (message.length === 0) queueMicrotask(post);
      message.push(replyTo, body);
    },
  };
}

/**
 * Creates the receiver. Every start of the process has a new address, so that replies to requests of an earlier run,
 * which are sent again when the log is read again, are dropped. It does not keep its thread alive.
 */
export function createInbox(port: MessagePort): Inbox {
  const address = freshId();
  const prefix = `${address}/`;
  let listener: (request: string, body: string) => void = () => {};

  port.on('message', (message: Message) => {
    for (let i = 0; i < message.length; i += 2) {
      const replyTo = message[i]!;
      if (replyTo.startsWith(prefix)) listener(replyTo.slice(prefix.length), message[i + 1]!);
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
