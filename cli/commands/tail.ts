/** `fenceline tail`: the live stream of a running Fenceline in a terminal, or as JSON lines for another program. */

import type { Event } from '../../schemas/json/user.js';
import { painter } from '../../server/terminal-text.js';
import { CommandFailure, type Run } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { accessOf } from '../server.js';
import type { Block } from '../tail/blocks.js';
import { follow, Refused } from '../tail/follow.js';
import { tailLine } from '../tail/format.js';

/** Maps options to query parameters of the stream. */
const parameters = {
  type: 'type',
  tag: 'tag',
  'user-id': 'userId',
  device: 'deviceId',
  geofence: 'geofence',
  from: 'from',
} as const;

export const run: Run<OptionsOf<'tail'>> = async (values) => {
  const { address, key } = await accessOf(values);
  const query = new URLSearchParams();
  for (const [option, parameter] of Object.entries(parameters)) {
    const value = values[option as keyof typeof parameters];
    if (value !== undefined) query.set(parameter, value);
  }
  await tail(`${address}/v1/events/stream?${query}`, key, values.json === true);
  process.exit(0);
};

/** Resolves on a signal, or when the reader of standard output is gone. */
async function tail(url: string, key: string, isJson: boolean): Promise<void> {
  const end = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.exitCode = 1;
    end.abort();
  });
  const paint = painter(process.stdout.isTTY === true);
  const lineOf = (data: string) => (isJson ? data : tailLine(JSON.parse(data) as Event, paint));

  /** Reports missing events on a gap. An event may be of type gap as well, but it has an id. */
  function show({ type, data }: Block & { data: string }): void {
    const gone = type === 'gap' ? missingIn(data) : 0;
    if (gone > 0) console.error(`fenceline: up to ${gone} events are no longer stored; continuing with the oldest`);
    else process.stdout.write(`${lineOf(data)}\n`);
  }

  try {
    await follow({
      url,
      key,
      onMessage: show,
      onConnected: () =>
        console.error(`fenceline: connected to ${new URL(url).origin}; events are shown as they happen`),
      onLoss: (reason, retryMs) => console.error(`fenceline: ${reason}; retrying in ${(retryMs / 1_000).toFixed(1)} s`),
      signal: end.signal,
    });
  } catch (error) {
    throw error instanceof Refused ? new CommandFailure(error.message) : error;
  }
}

/** Returns how many records a `gap` message reports; 0 for an event. */
function missingIn(data: string): number {
  const { partitions = [] } = JSON.parse(data) as { partitions?: { missing: number }[] };
  return partitions.reduce((sum, { missing }) => sum + missing, 0);
}
