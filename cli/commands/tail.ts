/** `fenceline tail`: the live stream of a running Fenceline in a terminal, or as JSON lines for another program. */
import { reasonOf } from '../../client/attempts.js';
import { createClient, type EventStreamItem, type EventStreamOptions, FencelineError } from '../../client/client.js';
import { onFirstSignal } from '../../schemas/end-signals.js';
import { painter, printable } from '../../server/terminal-text.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { outputLost } from '../output.js';
import { type Access, accessOf, noAnswer } from '../server.js';
import { tailLine } from '../tail-format.js';

/** Prints events as they happen, and goes on after a lost connection without a gap. */
export const run: Run<OptionsOf<'tail'>> = async (values) => {
  const { type, tag, 'user-id': userId, device: deviceId, geofence, from } = values;
  if (from !== undefined && from !== 'earliest' && from !== 'latest')
    throw new UsageError(`--from must be earliest or latest, not ${from}`);
  const filters = { type, tag, userId, deviceId, geofence, from } as EventStreamOptions;
  await tail(await accessOf(values), filters, values.json === true);
};

/** Resolves on a signal, or when the output can't be written. */
async function tail(access: Access, filters: EventStreamOptions, isJson: boolean): Promise<void> {
  const end = new AbortController();
  onFirstSignal(() => end.abort());
  const paint = painter(process.stdout.isTTY === true);

  function show(item: EventStreamItem): void {
    if (item.kind === 'event') {
      process.stdout.write(`${isJson ? JSON.stringify(item.event) : tailLine(item.event, paint)}\n`);
    } else {
      const gone = item.partitions.reduce((sum, { missing }) => sum + missing, 0);
      console.error(`fenceline: up to ${gone} events are no longer stored; continuing with the oldest`);
    }
  }

  let hasAnswered = false;
  const stream = createClient(access).events({
    ...filters,
    signal: AbortSignal.any([end.signal, outputLost]),
    onOpen() {
      hasAnswered = true;
      console.error(`fenceline: connected to ${access.address}; events are shown as they happen`);
    },
    onLoss(error, retryAfterMs) {
      hasAnswered ||= error instanceof FencelineError;
      if (!hasAnswered) throw noAnswer(access, error);
      console.error(`fenceline: ${printable(reasonOf(error))}; retrying in ${(retryAfterMs / 1_000).toFixed(1)} s`);
    },
  });
  try {
    for await (const item of stream) show(item);
  } catch (error) {
    if (!(error instanceof FencelineError)) throw error;
    throw error.status === 400 ? new UsageError(error.message) : new CommandFailure(error.message);
  }
}
