// Events to a warehouse: writes the events into files of lines of JSON, which any warehouse loads.
//
//   SK=prj_test_sk_… FOLDER=./events node examples/events-to-files.mjs
//
// There is a file for each day of receipt. A line has the event and its position in the stream. After a stop or a crash
// the program continues behind the last complete line, so that no event is missing and none is written again. A cluster
// may publish an event twice, under the same id, so load by id. load-events.sql does so in PostgreSQL:
//
//   psql -f examples/load-events.sql
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readdirSync, readSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'fenceline/client';

const folder = process.env.FOLDER ?? './events';
const fenceline = createClient({ address: process.env.FENCELINE ?? 'http://127.0.0.1:8080', key: process.env.SK });
mkdirSync(folder, { recursive: true });

/** Returns the position of the last complete line. Removes a line that a crash has cut off. */
function lastPosition() {
  const names = readdirSync(folder).filter((name) => name.endsWith('.ndjson'));
  for (const name of names.toSorted().toReversed()) {
    const line = lastLine(join(folder, name));
    // A file without a complete line had only the line that was cut off: the position is in the file before it.
    if (line !== '') return JSON.parse(line).position;
  }
  return undefined;
}

/** Cuts the file behind its last complete line, and returns the line. Reads no more than needed: a day may be huge. */
function lastLine(path) {
  const opened = openSync(path, 'r+');
  try {
    const { size } = fstatSync(opened);
    for (let length = Math.min(size, 64 * 1024); ; length = Math.min(size, 2 * length)) {
      const tail = Buffer.alloc(length);
      readSync(opened, tail, 0, length, size - length);
      const end = tail.lastIndexOf('\n') + 1;
      const begin = end < 2 ? 0 : tail.lastIndexOf('\n', end - 2) + 1;
      // The line may begin before the tail.
      if (begin === 0 && length < size) continue;
      ftruncateSync(opened, size - length + end);
      return tail.toString('utf8', begin, end);
    }
  } finally {
    closeSync(opened);
  }
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

let day = '';
let file;
const lastEventId = lastPosition();
console.log(lastEventId === undefined ? 'begins with the oldest event' : `continues behind ${lastEventId}`);
const start = lastEventId === undefined ? { from: 'earliest' } : { lastEventId };
for await (const item of fenceline.events({ ...start, signal: stop.signal })) {
  if (item.kind === 'gap') {
    console.error('events were deleted before they were read', item.partitions);
    continue;
  }
  const today = new Date().toISOString().slice(0, 10);
  if (today !== day) {
    day = today;
    if (file !== undefined) closeSync(file);
    file = openSync(join(folder, `${day}.ndjson`), 'a');
  }
  // One write: event and position are both on disk, or neither.
  writeSync(file, `${JSON.stringify({ position: item.id, event: item.event })}\n`);
}
