/**
 * An oracle: parses server-sent events literally as in the WHATWG HTML standard (section 9.2.6), slowly and over the
 * whole text at once.
 */

/** A message as a browser dispatches it. */
export interface DispatchedMessage {
  readonly type: string;
  readonly data: string;
  readonly lastEventId: string;
}

interface Interpretation {
  readonly messages: readonly DispatchedMessage[];
  /** The id with which a client would reconnect. */
  readonly lastEventId: string;
  readonly retryMs: number | undefined;
}

/** Parses the text received so far. Ignores an incomplete line or block. */
export function interpret(text: string): Interpretation {
  const messages: DispatchedMessage[] = [];
  const buffers = { data: '', type: '', id: '' };
  let lastEventId = '';
  let retryMs: number | undefined;

  function processField(name: string, value: string): void {
    if (name === 'event') buffers.type = value;
    if (name === 'data') buffers.data += `${value}\n`;
    if (name === 'id' && !value.includes('\0')) buffers.id = value;
    if (name === 'retry' && /^[0-9]+$/.test(value)) retryMs = Number.parseInt(value, 10);
  }

  function dispatch(): void {
    lastEventId = buffers.id;
    if (buffers.data !== '') {
      const data = buffers.data.endsWith('\n') ? buffers.data.slice(0, -1) : buffers.data;
      messages.push({ type: buffers.type === '' ? 'message' : buffers.type, data, lastEventId });
    }
    buffers.data = '';
    buffers.type = '';
  }

  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (const line of lines.slice(0, -1)) {
    if (line === '') dispatch();
    else if (line.startsWith(':')) continue;
    else if (!line.includes(':')) processField(line, '');
    else {
      const [name = ''] = line.split(':', 1);
      const rest = line.slice(name.length + 1);
      processField(name, rest.startsWith(' ') ? rest.slice(1) : rest);
    }
  }
  return { messages, lastEventId, retryMs };
}
