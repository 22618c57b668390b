/** `fenceline export`: writes all geofences or beacons of an environment into a file. */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { fileProblem } from '../../schemas/file-problem.js';
import { importFormats, importFormatsByExtension } from '../../schemas/import-formats.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { interruptible } from '../interruptible.js';
import { Interruption } from '../interruption.js';
import { checkOutput, formatOfOutput, save } from '../save.js';
import { accessOf, request } from '../server.js';

const resources = ['geofences', 'beacons'];

/** Writes all geofences or beacons of the key's environment to a file or to standard output. */
export const run: Run<OptionsOf<'export'>> = async (values, [resource = 'geofences', ...rest]) => {
  if (!resources.includes(resource) || rest.length > 0)
    throw new UsageError('export writes geofences or beacons: fenceline export [geofences|beacons] [OPTIONS]');
  const access = await accessOf(values);
  const { output, tag } = values;
  if (values.format !== undefined && !importFormats.some((each) => each === values.format))
    throw new UsageError(`--format must be one of ${importFormats.join(', ')}, not ${values.format}`);
  const format = values.format ?? formatOf(output) ?? 'csv';
  const query = new URLSearchParams({ format, ...(tag !== undefined && { tag }) });
  if (output !== undefined) checkOutput('output', output);
  const answer = await request(access, `/v1/${resource}/export?${query}`, { hasOnlyArguments: true });
  const body = Readable.fromWeb(answer.body as ReadableStream);
  if (output === undefined) await pipeline(body, process.stdout, { end: false });
  else await saved(body, output);
};

const formatOf = (output: string | undefined) =>
  output === undefined ? undefined : formatOfOutput(output, importFormatsByExtension, 'name the format with --format');

async function saved(body: Readable, output: string): Promise<void> {
  const { signal, release } = interruptible(() => `${output} is as it was before`);
  try {
    await save(output, body, signal);
  } catch (error) {
    if (error instanceof Interruption) throw error;
    throw new CommandFailure(`the export ended early, and ${output} is as it was before: ${fileProblem(error)}`);
  } finally {
    release();
  }
}
