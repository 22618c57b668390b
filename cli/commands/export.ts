/** `fenceline export`: writes all geofences or beacons of an environment into a file. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';

const resources = ['geofences', 'beacons'];

/** Formats by the extension of the file. The option takes precedence. */
const formats: readonly (readonly [RegExp, string])[] = [
  [/\.(geojson|json)$/i, 'geojson'],
  [/\.(ndjson|jsonl)$/i, 'ndjson'],
];

export const run: Run<OptionsOf<'export'>> = async (values, [resource = 'geofences', ...rest]) => {
  if (!resources.includes(resource) || rest.length > 0)
    throw new UsageError('export writes geofences or beacons: fenceline export [geofences|beacons] [OPTIONS]');
  const key = values.key ?? process.env.FENCELINE_KEY;
  if (!key) throw new UsageError('export requires a secret key: --key or FENCELINE_KEY');
  const { output, tag } = values;
  const format = values.format ?? formats.find(([extension]) => extension.test(output ?? ''))?.[1] ?? 'csv';
  const query = new URLSearchParams({ format, ...(tag !== undefined && { tag }) });
  const body = await request(`${await addressOf(values.address)}/v1/${resource}/export?${query}`, key);
  if (output === undefined) await pipeline(body, process.stdout, { end: false });
  else await save(body, output);
};

async function request(url: string, key: string): Promise<Readable> {
  const answer = await fetch(url, { headers: { authorization: key } }).catch((error: Error & { cause?: Error }) => {
    throw new CommandFailure(`${new URL(url).origin} does not answer: ${error.cause?.message ?? error.message}`);
  });
  if (answer.ok && answer.body !== null) return Readable.fromWeb(answer.body as ReadableStream);
  const { meta } = (await answer.json().catch(() => ({}))) as { meta?: { message?: string } };
  throw new CommandFailure(`the server answered ${answer.status}: ${meta?.message ?? answer.statusText}`);
}

/** Writes a file beside the wanted one first, so that a broken connection leaves no partial export. */
async function save(body: Readable, output: string): Promise<void> {
  const unfinished = `${output}.unfinished`;
  try {
    await pipeline(body, createWriteStream(unfinished));
    await rename(unfinished, output);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw new CommandFailure(`the export ended early: ${(error as Error).message}`);
  }
}

async function addressOf(given = process.env.FENCELINE_ADDRESS): Promise<string> {
  if (given !== undefined) {
    if (!URL.canParse(given)) throw new UsageError(`${given} is not a URL`);
    return given.replace(/\/+$/, '');
  }
  const { configurationFrom } = await import('./configuration.js');
  return `http://127.0.0.1:${configurationFrom({}).configuration.port}`;
}
