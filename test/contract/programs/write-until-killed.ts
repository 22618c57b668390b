/**
 * Appends and commits as fast as it can and prints what was acknowledged, until it is killed. Arguments: folder, name
 * of the run.
 * Lines: `append <writer> <n>`: records 0 to n of that writer; `commit <partition> <nextOffset>`; `change <n>`.
 */
import { writeSync } from 'node:fs';
import { openEmbedded } from '../../../backends/embedded/embedded.js';

const [path, run] = process.argv.slice(2) as [string, string];
const { log, stateStore } = openEmbedded({ path, partitions: 2 });

/** Writes past Node's buffers, so that a line is written when this returns. */
const print = (line: string): void => void writeSync(1, `${line}\n`);

async function appendRecords(writer: number): Promise<never> {
  for (let n = 0; ; n += 37) {
    const records = Array.from({ length: 37 }, (_, i) => ({
      key: `writer-${writer}`,
      value: Buffer.from(`${run}:${writer}:${n + i}`),
    }));
    await log.append('locations', records);
    print(`append ${writer} ${n + 36}`);
  }
}

async function commitBatches(partition: number): Promise<never> {
  const claim = await stateStore.claim(partition);
  for (let offset = claim.nextOffset; ; offset += 10) {
    const nextOffset = offset + 10;
    const states = new Map([
      ['position', Buffer.from(`${nextOffset}`)],
      [`device-${(offset / 10) % 500}`, Buffer.alloc(150, `${nextOffset}`)],
    ]);
    const events = [0, 1, 2].map((i) => ({ key: `partition-${partition}`, value: Buffer.from(`${nextOffset}:${i}`) }));
    const result = await stateStore.commit(claim, {
      expectedOffset: offset,
      nextOffset,
      states,
      publish: [{ topic: 'events', records: events }],
    });
    if (result !== 'committed') throw new Error('fenced without a rival');
    print(`commit ${partition} ${nextOffset}`);
  }
}

async function appendChanges(): Promise<never> {
  for (let n = 0; ; n++) {
    await log.append('changes', [{ key: `key-${n % 10}`, value: Buffer.from(`${run}:${n}`) }]);
    print(`change ${n}`);
  }
}

await Promise.all([
  appendRecords(0),
  appendRecords(1),
  appendRecords(2),
  commitBatches(0),
  commitBatches(1),
  appendChanges(),
]);
