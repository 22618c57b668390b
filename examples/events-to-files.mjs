// Events to a warehouse: writes each event exactly once into files of lines of JSON, which any warehouse loads.
//
//   SK=prj_test_sk_… FOLDER=./events node examples/events-to-files.mjs
//
// There is a file for each day of receipt. A line has the event and its position in the stream. After a stop or a crash
// the program continues behind the last complete line, so that no event is missing or twice.
import { mkdirSync, openSync, readdirSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from 'fenceline/client';

const folder = process.env.FOLDER ?? './events';
const fenceline = createClient({ address: process.env.FENCELINE ?? 'http://127.0.0.1:8080', key: process.env.SK });
mkdirSync(folder, { recursive: true });

/** Returns the position of the last complete line. Removes a line that a crash has cut off. */
function lastPosition() {
  const newest = readdirSync(folder)
    .filter((name) => name.endsWith('.ndjson'))
    .toSorted()
    .at(-1);
  if (newest === undefined) return undefined;
  const path = join(folder, newest);
  const bytes = readFileSync(path);
  const end = bytes.lastIndexOf('\n') + 1;
  if (end < bytes.length) truncateSync(path, end);
  const last = bytes.subarray(0, end).toString().trimEnd().split('\n').at(-1);
  return last === '' ? undefined : JSON.parse(last).position;
}

const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => stop.abort());

let day = '';
let file = 0;
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
    file = openSync(join(folder, `${day}.ndjson`), 'a');
  }
  // One write: event and position are both on disk, or neither.
  writeSync(file, `${JSON.stringify({ position: item.id, event: item.event })}\n`);
}
