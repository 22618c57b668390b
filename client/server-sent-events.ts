/**
 * Parses server-sent events from pieces of text, according to the WHATWG HTML standard (section 9.2.6). Pure.
 *
 * Blocks without data are returned as well, because they move the position to resume from.
 */

/** A block of the stream: the fields between two blank lines. */
export interface Block {
  /** The last id that the server set: the position to resume from. */
  readonly id: string;
  readonly type: string;
  /** Null if the block has no data to dispatch. */
  readonly data: string | null;
}

/**
 * Creates a reader of one connection's text, in pieces of any size. `lastId` is the position that the connection
 * resumed from.
 */
export function createBlockReader(lastId = ''): (piece: string) => Block[] {
  let rest = '';
  let isFirst = true;
  let isAfterReturn = false;
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
    if (piece === '') return [];
    // A CR ends its line at once: an event must not wait for the piece that may begin with the rest of a CRLF.
    let text = rest + (isAfterReturn ? piece.replace(/^\n/, '') : piece);
    isAfterReturn = piece.endsWith('\r');
    if (isFirst) text = text.replace(/^\uFEFF/, '');
    isFirst = false;
    const lines = text.split(/\r\n|\n|\r/);
    rest = lines.pop() ?? '';
    return lines.flatMap(readLine);
  };
}
