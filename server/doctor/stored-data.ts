/** Reads all that an embedded node has stored in LMDB, each folder in a process of its own, which damage may end. */
import { fork } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { withoutSettings } from '../../schemas/helper-process.js';
import { remedies } from '../data-folder/damaged-files.js';
import { type Finding, findingsAbout } from './finding.js';

/** What the process says of its folder. */
export type ReadResult =
  | { readonly ok: true; readonly values: number }
  | { readonly ok: false; readonly reason: string; readonly isInUse?: boolean };

const { ok, failure } = findingsAbout('stored data');
const readingProcess = new URL('./reading-process.js', import.meta.url);

/** Yields a finding for each folder of LMDB that exists, or a failure if there is none. */
export async function* checkStoredData({ data }: { readonly data: string }): AsyncGenerator<Finding> {
  const folders = Object.entries(remedies)
    .map(([name, remedy]) => ({ name, folder: join(resolve(data), name), remedy }))
    .filter(({ folder }) => existsSync(join(folder, 'data.mdb')));
  if (folders.length === 0)
    yield failure(`${resolve(data)} has nothing that a node has stored`, 'Name the data folder with --data.');
  for (const { name, folder, remedy } of folders) {
    const result = await read(resolve(data), name);
    if (result.ok) yield ok(`${folder} was read to its end, with ${result.values} values`);
    else if (result.isInUse) yield failure(`${folder} was not read: ${result.reason}`, 'Stop that process first.');
    else
      yield failure(
        `${folder} can't be read to its end: ${result.reason}`,
        `Stop the node, and ${remedy}. Check the disk.`,
      );
  }
}

const read = (data: string, environment: string): Promise<ReadResult> =>
  new Promise((settle) => {
    const child = fork(readingProcess, [data, environment], {
      env: withoutSettings(process.env),
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    child.once('message', (result) => settle(result as ReadResult));
    child.once('exit', (code, signal) =>
      settle({ ok: false, reason: `LMDB ended the reading process with ${signal ?? `status ${code}`}` }),
    );
    child.once('error', ({ message }) => settle({ ok: false, reason: message }));
  });
