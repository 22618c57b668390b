/** `fenceline import`: sends a file to a running Fenceline and shows the progress and the result. */
import { createReadStream, createWriteStream, statSync } from 'node:fs';
import { basename, extname } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type ReadableStream, TextDecoderStream } from 'node:stream/web';
import { setTimeout as delay } from 'node:timers/promises';
import type { Import } from '../../schemas/json/import.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { importProgress, type ProgressLine, progressLine, sendingProgress } from '../import/progress.js';
import { createBlockReader } from '../tail/blocks.js';

const types: Readonly<Record<string, string>> = {
  '.csv': 'text/csv',
  '.geojson': 'application/geo+json',
  '.json': 'application/geo+json',
  '.ndjson': 'application/x-ndjson',
  '.jsonl': 'application/x-ndjson',
};
const maxShownRows = 20;
const retryMs = 1_000;
const maxLosses = 30;

export const run: Run<OptionsOf<'import'>> = async (values, [path, ...others]) => {
  if (path === undefined || others.length > 0) throw new UsageError('import takes one FILE');
  const key = values.key ?? process.env.FENCELINE_KEY;
  if (!key) throw new UsageError('import requires a secret key: --key or FENCELINE_KEY');
  const resource = values.resource ?? 'geofences';
  if (resource !== 'geofences' && resource !== 'beacons')
    throw new UsageError(`--resource must be geofences or beacons, not ${resource}`);
  const server = { address: await addressOf(values.address), key };
  const line = progressLine(process.stderr);
  const isDryRun = values['dry-run'] === true;
  let result: Import;
  try {
    result = await followed(server, await send(server, path, { resource, isDryRun }, line), line);
  } finally {
    line.end();
  }
  await report(server, path, result, values.rejected);
};

interface Server {
  readonly address: string;
  readonly key: string;
}

async function addressOf(given = process.env.FENCELINE_ADDRESS): Promise<string> {
  const address = given ?? (await localAddress());
  if (!URL.canParse(address)) throw new UsageError(`${address} is not a URL`);
  return address.replace(/\/+$/, '');
}

/** Loads the configuration only if no address is given. */
async function localAddress(): Promise<string> {
  const { configurationFrom } = await import('./configuration.js');
  return `http://127.0.0.1:${configurationFrom({}).configuration.port}`;
}

async function call(server: Server, path: string, init: RequestInit & { duplex?: 'half' } = {}): Promise<Response> {
  const headers = { authorization: server.key, ...(init.headers as Record<string, string> | undefined) };
  return fetch(`${server.address}${path}`, { ...init, headers }).catch((error: Error) => {
    const reason = (error.cause as Error | undefined)?.message ?? error.message;
    throw new CommandFailure(`nothing answers at ${server.address} (${reason}); is it running?`);
  });
}

interface Answer {
  readonly meta?: { readonly message?: string };
  readonly import?: Import;
}

async function answerOf(response: Response, server: Server): Promise<Answer> {
  const answer = (await response.json().catch(() => {
    throw new CommandFailure(`the server at ${server.address} is not Fenceline`);
  })) as Answer;
  if (answer.import === undefined) throw new CommandFailure(answer.meta?.message ?? `it answered ${response.status}`);
  return answer;
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size;
  } catch {
    throw new CommandFailure(`${path} can't be read`);
  }
}

/** Sends the file. Returns the import, which may still run. */
async function send(
  server: Server,
  path: string,
  { resource, isDryRun }: { readonly resource: string; readonly isDryRun: boolean },
  line: ProgressLine,
): Promise<Import> {
  const isCompressed = extname(path).toLowerCase() === '.gz';
  const type = types[extname(isCompressed ? path.slice(0, -'.gz'.length) : path).toLowerCase()];
  if (type === undefined) throw new UsageError(`${path} must be a .csv, .geojson or .ndjson file`);
  const totalBytes = sizeOf(path);
  async function* sent(): AsyncGenerator<Uint8Array> {
    let bytes = 0;
    for await (const chunk of createReadStream(path) as AsyncIterable<Uint8Array>) {
      yield chunk;
      bytes += chunk.length;
      line.show(sendingProgress(bytes, totalBytes));
    }
  }
  const query = new URLSearchParams({ wait: '0', fileName: basename(path), dryRun: `${isDryRun}` });
  const response = await call(server, `/v1/${resource}/import?${query}`, {
    method: 'POST',
    headers: { 'content-type': type, ...(isCompressed && { 'content-encoding': 'gzip' }) },
    body: Readable.toWeb(Readable.from(sent())) as RequestInit['body'] & ReadableStream,
    duplex: 'half',
  });
  return (await answerOf(response, server)).import!;
}

/** Shows the progress until the import has ended. A lost connection is opened again. */
async function followed(server: Server, started: Import, line: ProgressLine): Promise<Import> {
  const startedAtMs = performance.now();
  let current = started;
  for (let losses = 0; current.status === 'running'; losses++) {
    if (losses > maxLosses) throw new CommandFailure(`the connection is lost; the import ${current._id} continues`);
    if (losses > 0) await delay(retryMs);
    try {
      const response = await call(server, `/v1/imports/${current._id}/stream`);
      if (!response.ok || response.body === null) throw new CommandFailure(`the stream answered ${response.status}`);
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

async function report(server: Server, path: string, result: Import, rejectedPath: string | undefined): Promise<void> {
  const { status, message, rejections = [], plannedRows = [], rejected, rejectedFile } = result;
  for (const { line, action, tag = null, externalId = null, changed = [] } of plannedRows) {
    const pair = [tag, externalId].filter((part) => part !== null).join('/');
    console.log(`line ${line}: ${action} ${pair}${changed.length > 0 ? `: ${changed.join(', ')}` : ''}`);
  }
  const shown = rejections.slice(0, maxShownRows);
  for (const { line, column, value, rule } of shown)
    console.error(`line ${line}: ${column}: ${rule}${value === '' ? '' : ` (${value})`}`);
  if (rejected > shown.length) console.error(`and ${rejected - shown.length} more bad rows`);
  if (rejectedFile !== undefined && rejectedPath !== undefined) {
    const response = await call(server, rejectedFile);
    if (!response.ok || response.body === null) throw new CommandFailure('the bad rows are no longer stored');
    await pipeline(Readable.fromWeb(response.body as ReadableStream), createWriteStream(rejectedPath));
    console.error(`the bad rows are in ${rejectedPath}; correct them and import this file`);
  }
  const summary = `${basename(path)}: ${message}`;
  if (status !== 'completed' || rejected > 0) throw new CommandFailure(summary);
  console.log(summary);
}
