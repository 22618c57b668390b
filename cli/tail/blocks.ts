/**
 * Server-sent events as they come off the wire, in pieces, as the WHATWG HTML standard reads them (section 9.2.6).
 * Pure.
 *
 * Besides messages, blocks without data are told: they move the position that a reader comes back with.
 */

export interface Block {
  /** Of the last message whose sender set one; what to come back with. */
  readonly id: string;
  readonly type: string;
  /** Null: there is nothing to dispatch. */
  readonly data: string | null;
}

/**
 * A reader of one connection's text, in pieces of any size. It starts with the id that the connection was asked to go
 * on from.
 */
export function createBlockReader(lastId = ''): (piece: string) => Block[] {
  let rest = '';
  let isFirst = true;
  let id = lastId;
  let type = '';
  let data: string[] = [];

  function readLine(line: string): Block[] {
    if (line === '') {
      const block = { id, type: type === '' ? 'message' : type, data: data.length === 0 ? null : data.join('\n') };
      type = '';
      data = [];
      return [block];
    }
    const colon = line.indexOf(':');
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? '' : line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1);
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
    return [];
  }

  return (piece) => {
    let text = rest + piece;
    if (isFirst && text !== '') {
      text = text.replace(/^\uFEFF/, '');
      isFirst = false;
    }
    // A CR at the end may be half of a CRLF.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    return lines.flatMap(readLine);
  };
}
