/** `fenceline import`: sends a file to a running Fenceline and shows the progress and the result. */
import { closeSync, createReadStream, createWriteStream, existsSync, openSync, rmSync, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ReadableStream, TextDecoderStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import { createBlockReader } from '../../client/server-sent-events.js';
import { formatOfName } from '../../schemas/import-formats.js';
import type { Import, ImportFormat } from '../../schemas/json/import.js';
import { printable } from '../../server/terminal-text.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { importProgress, type ProgressLine, progressLine, sendingProgress } from '../import/progress.js';
import { type Access, accessOf, call, request } from '../server.js';

const types: Readonly<Record<ImportFormat, string>> = {
  csv: 'text/csv',
  geojson: 'application/geo+json',
  ndjson: 'application/x-ndjson',
};
const maxShownRows = 20;
const retryMs = 1_000;
const maxLosses = 30;

export const run: Run<OptionsOf<'import'>> = async (values, [path, ...others]) => {
  if (path === undefined || others.length > 0) throw new UsageError('import takes one FILE');
  const access = await accessOf(values);
  const resource = values.resource ?? 'geofences';
  if (resource !== 'geofences' && resource !== 'beacons')
    throw new UsageError(`--resource must be geofences or beacons, not ${resource}`);
  if (values.rejected !== undefined) checkWritable(values.rejected);
  const line = progressLine(process.stderr);
  const isDryRun = values['dry-run'] === true;
  let result: Import;
  try {
    result = await followed(access, await send(access, path, { resource, isDryRun }, line), line);
  } finally {
    line.end();
  }
  await report(access, path, result, values.rejected);
};

/** Throws before anything is sent if the file can't be written. Changes nothing. */
function checkWritable(path: string): void {
  const isNew = !existsSync(path);
  closeSync(openSync(path, 'a'));
  if (isNew) rmSync(path);
}

function sizeOf(path: string): number {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) throw new CommandFailure(`${path} does not exist`);
  if (found.isDirectory()) throw new CommandFailure(`${path} is a folder`);
  return found.size;
}

/** Sends the file. Returns the import, which may still run. */
async function send(
  access: Access,
  path: string,
  { resource, isDryRun }: { readonly resource: string; readonly isDryRun: boolean },
  line: ProgressLine,
): Promise<Import> {
  const isCompressed = extname(path).toLowerCase() === '.gz';
  const format = formatOfName(isCompressed ? path.slice(0, -'.gz'.length) : path);
  if (format === undefined) throw new UsageError(`${path} must be a .csv, .geojson or .ndjson file`);
  const totalBytes = sizeOf(path);
  let unreadable: CommandFailure | undefined;
  async function* sent(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    const file = createReadStream(path).on('error', ({ message }) => {
      unreadable = new CommandFailure(`${path} can't be read: ${message}`);
    });
    for await (const chunk of file as AsyncIterable<Uint8Array>) {
      yield chunk;
      bytes += chunk.length;
      line.show(sendingProgress(bytes, totalBytes));
    }
  }
  const query = new URLSearchParams({ wait: '0', fileName: basename(path), dryRun: `${isDryRun}` });
  const answer = await call<{ import: Import }>(access, 'POST', `/v1/${resource}/import?${query}`, {
    headers: { 'content-type': types[format], ...(isCompressed && { 'content-encoding': 'gzip' }) },
    body: Readable.toWeb(Readable.from(sent())) as RequestInit['body'] & ReadableStream,
    duplex: 'half',
  }).catch((error: unknown) => {
    // The request fails with the file.
    throw unreadable ?? error;
  });
  return answer.import;
}

/** Shows the progress until the import has ended. A lost connection is opened again. */
async function followed(access: Access, started: Import, line: ProgressLine): Promise<Import> {
  const startedAtMs = performance.now();
  let current = started;
  for (let losses = 0; current.status === 'running'; losses++) {
    if (losses > maxLosses) throw new CommandFailure(`the connection is lost; the import ${current._id} continues`);
    if (losses > 0) await delay(retryMs);
    try {
      const response = await request(access, `/v1/imports/${current._id}/stream`);
      const read = createBlockReader();
      const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
      for await (const piece of text) {
        for (const { data } of read(piece)) {
          if (data === null) continue;
          current = JSON.parse(data) as Import;
          line.show(importProgress(current, performance.now() - startedAtMs));
        }
      }
    } catch (error) {
      if (losses === maxLosses) throw error;
    }
  }
  return current;
}

async function report(access: Access, path: string, result: Import, rejectedPath: string | undefined): Promise<void> {
  const { status, message, rejections = [], plannedRows = [], rejected, rejectedFile } = result;
  for (const { line, action, tag = null, externalId = null, changed = [] } of plannedRows) {
    const pair = [tag, externalId].filter((part) => part !== null).join('/');
    console.log(printable(`line ${line}: ${action} ${pair}${changed.length > 0 ? `: ${changed.join(', ')}` : ''}`));
  }
  const shown = rejections.slice(0, maxShownRows);
  for (const { line, column, value, rule } of shown)
    console.error(printable(`line ${line}: ${column}: ${rule}${value === '' ? '' : ` (${value})`}`));
  if (rejected > shown.length) console.error(`and ${rejected - shown.length} more bad rows`);
  const summary = printable(`${basename(path)}: ${message}`);
  if (rejectedFile !== undefined && rejectedPath !== undefined) {
    try {
      const response = await request(access, rejectedFile);
      await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(rejectedPath));
    } catch (error) {
      throw new CommandFailure(`${summary}; the bad rows could not be saved: ${(error as Error).message}`);
    }
    console.error(`the bad rows are in ${rejectedPath}; correct them and import this file`);
  }
  if (status !== 'completed' || rejected > 0) throw new CommandFailure(summary);
  console.log(summary);
}
