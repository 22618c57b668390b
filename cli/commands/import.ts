/** `fenceline import`: sends a file to a running Fenceline and shows the progress and the result. */
import { createReadStream, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { type ReadableStream, TextDecoderStream } from 'node:stream/web';
import { sleep } from '../../client/attempts.js';
import { createBlockReader } from '../../client/server-sent-events.js';
import { fileProblem } from '../../schemas/file-problem.js';
import { formatOfName } from '../../schemas/import-formats.js';
import type { Import, ImportFormat } from '../../schemas/json/import.js';
import { printable } from '../../server/terminal-text.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { interruptible } from '../interruptible.js';
import { importProgress, type ProgressLine, progressLine, sendingProgress } from '../progress.js';
import { checkOutput, save } from '../save.js';
import { type Access, accessOf, call, request } from '../server.js';

const types: Readonly<Record<ImportFormat, string>> = {
  csv: 'text/csv',
  geojson: 'application/geo+json',
  ndjson: 'application/x-ndjson',
};
const maxShownRows = 20;
/** How often in a row a connection may be lost before it has brought news, and when it is opened again. */
const usualPatience = { maxLosses: 30, retryMs: 1_000 };

/** Sends a file to a server and follows its import. Exits with 1 if rows were rejected. */
export const run: Run<OptionsOf<'import'>> = async (values, [path, ...others]) => {
  if (path === undefined || others.length > 0) throw new UsageError('import takes one FILE');
  const access = await accessOf(values);
  const resource = values.resource ?? 'geofences';
  if (resource !== 'geofences' && resource !== 'beacons')
    throw new UsageError(`--resource must be geofences or beacons, not ${resource}`);
  if (values.rejected !== undefined) checkOutput('rejected', values.rejected, path);
  const line = progressLine(process.stderr);
  const isDryRun = values['dry-run'] === true;
  let consequence = 'the server imports a file only once it has the whole file';
  const { signal, release } = interruptible(() => consequence);
  try {
    const started = await send(access, path, { resource, isDryRun }, line, signal);
    consequence = continuing(access, started);
    const result = await followed(access, started, line, signal);
    line.end();
    consequence = `the import ${result._id} has ended, and its bad rows are not saved`;
    await report(access, path, result, values.rejected, signal);
  } finally {
    line.end();
    release();
  }
};

/** Says how to watch and to stop an import that the server runs on. */
function continuing({ address }: Access, { _id }: Import): string {
  const route = `${address}/v1/imports/${_id}`;
  return `the import ${_id} continues on the server: GET ${route} shows it, and POST ${route}/stop stops it`;
}

/** Says what is left of an import whose end nobody has seen. A server that was killed has interrupted it. */
function unknownEnd({ address }: Access, { _id }: Import): string {
  const shown = `GET ${address}/v1/imports/${_id} shows what became of the import`;
  return `${shown}; import the file again if it was interrupted: rows that are applied stay unchanged`;
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
  signal: AbortSignal,
): Promise<Import> {
  const isCompressed = extname(path).toLowerCase() === '.gz';
  const format = formatOfName(isCompressed ? path.slice(0, -'.gz'.length) : path);
  if (format === undefined) throw new UsageError(`${path} must be a .csv, .geojson or .ndjson file`);
  const totalBytes = sizeOf(path);
  let unreadable: CommandFailure | undefined;
  async function* sent(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    const file = createReadStream(path).on('error', (error) => {
      unreadable = new CommandFailure(`${path} can't be read: ${fileProblem(error)}`);
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
    signal,
  }).catch((error: unknown) => {
    signal.throwIfAborted();
    // The request fails with the file.
    throw unreadable ?? error;
  });
  return answer.import;
}

/**
 * Shows the progress until the import has ended. A lost connection is opened again. Rejects when the signal aborts, and
 * when connections bring no news too often in a row.
 */
export async function followed(
  access: Access,
  started: Import,
  line: ProgressLine,
  signal: AbortSignal,
  { maxLosses, retryMs } = usualPatience,
): Promise<Import> {
  const startedAtMs = performance.now();
  let current = started;
  let reason = 'the server ended the stream of its progress';
  for (let losses = 0; current.status === 'running'; losses++) {
    if (losses > maxLosses) throw new CommandFailure(`${reason}; ${unknownEnd(access, current)}`);
    if (losses > 0) await sleep(retryMs, signal);
    try {
      for await (const told of streamOf(access, current, signal)) {
        current = told;
        losses = 0;
        line.show(importProgress(current, performance.now() - startedAtMs));
      }
    } catch (error) {
      signal.throwIfAborted();
      reason = (error as Error).message;
    }
  }
  return current;
}

/** Yields the states of an import that the server streams, until the connection ends. */
async function* streamOf(access: Access, { _id }: Import, signal: AbortSignal): AsyncGenerator<Import> {
  const response = await request(access, `/v1/imports/${_id}/stream`, { signal });
  const read = createBlockReader();
  const text = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream());
  for await (const piece of text)
    for (const { data } of read(piece)) if (data !== null) yield JSON.parse(data) as Import;
}

async function report(
  access: Access,
  path: string,
  result: Import,
  rejectedPath: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { status, message, rejections = [], plannedRows = [], rejected, rejectedFile, rejectedFileCut } = result;
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
      await save(rejectedPath, Readable.fromWeb(response.body as ReadableStream), signal);
    } catch (error) {
      signal.throwIfAborted();
      throw new CommandFailure(`${summary}; the bad rows could not be saved: ${fileProblem(error)}`);
    }
    // Another import of this file would keep the same first rows again.
    const advice = rejectedFileCut
      ? `only the first bad rows are in ${rejectedPath}, because there are many; ` +
        `correct ${basename(path)} itself and import it again`
      : `the bad rows are in ${rejectedPath}; correct them and import this file`;
    console.error(printable(advice));
  }
  if (status !== 'completed' || rejected > 0) throw new CommandFailure(summary);
  console.log(summary);
}
