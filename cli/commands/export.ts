/** `fenceline export`: writes all geofences or beacons of an environment into a file. */
import { createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { formatOfName } from '../../schemas/import-formats.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { accessOf, request } from '../server.js';

const resources = ['geofences', 'beacons'];

export const run: Run<OptionsOf<'export'>> = async (values, [resource = 'geofences', ...rest]) => {
  if (!resources.includes(resource) || rest.length > 0)
    throw new UsageError('export writes geofences or beacons: fenceline export [geofences|beacons] [OPTIONS]');
  const access = await accessOf(values);
  const { output, tag } = values;
  const format = values.format ?? formatOfName(output ?? '') ?? 'csv';
  const query = new URLSearchParams({ format, ...(tag !== undefined && { tag }) });
  const answer = await request(access, `/v1/${resource}/export?${query}`);
  const body = Readable.fromWeb(answer.body as ReadableStream);
  if (output === undefined) await pipeline(body, process.stdout, { end: false });
  else await save(body, output);
};

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
