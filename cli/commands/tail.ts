/** `fenceline tail`: the live stream of a running Fenceline in a terminal, or as JSON lines for another program. */
import { parseArgs } from 'node:util';
import { painter } from '../../demo/report.js';
import type { Event } from '../../schemas/json/user.js';
import { type Command, CommandFailure, UsageError } from '../command.js';
import type { Block } from '../tail/blocks.js';
import { follow, Refused } from '../tail/follow.js';
import { tailLine } from '../tail/format.js';
import { configurationOrExit } from './configuration.js';

const text = { type: 'string' } as const;
const filterOptions = { type: text, tag: text, 'user-id': text, device: text, geofence: text };
const options = {
  ...filterOptions,
  address: text,
  key: text,
  from: text,
  json: { type: 'boolean', default: false },
} as const;

/** The stream's parameters by option. */
const parameters = {
  type: 'type',
  tag: 'tag',
  'user-id': 'userId',
  device: 'deviceId',
  geofence: 'geofence',
  from: 'from',
} as const;

export const tailCommand: Command = {
  usage:
    'tail [--address URL] [--key KEY] [--type TYPE] [--tag TAG] [--user-id ID] [--device ID] [--geofence ID] [--from earliest] [--json]',
  summary: 'Shows events as they happen, one line each. The secret key may come from FENCELINE_KEY.',
  async run(args) {
    const { values } = parseArgs({ args, options });
    const key = values.key ?? process.env.FENCELINE_KEY;
    if (!key) throw new UsageError('tail needs a secret key: --key or FENCELINE_KEY');
    const query = new URLSearchParams();
    for (const [option, parameter] of Object.entries(parameters)) {
      const value = values[option as keyof typeof parameters];
      if (value !== undefined) query.set(parameter, value);
    }
    const url = `${addressOf(values.address)}/v1/events/stream?${query}`;
    await tail(url, key, values.json);
    process.exit(0);
  },
};

function addressOf(given: string | undefined): string {
  const address =
    given ?? process.env.FENCELINE_ADDRESS ?? `http://127.0.0.1:${configurationOrExit({}).configuration.port}`;
  if (!URL.canParse(address)) throw new UsageError(`${address} is not an address`);
  return address.replace(/\/+$/, '');
}

/** Ends when it is told to, or when nobody reads what it writes. */
async function tail(url: string, key: string, isJson: boolean): Promise<void> {
  const end = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => end.abort());
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    if (code !== 'EPIPE') process.exitCode = 1;
    end.abort();
  });
  const paint = painter(process.stdout.isTTY === true);
  const lineOf = (data: string) => (isJson ? data : tailLine(JSON.parse(data) as Event, paint));

  /** A conversion may be named gap as well; it has an id. */
  function show({ type, data }: Block & { data: string }): void {
    const gone = type === 'gap' ? missingIn(data) : 0;
    if (gone > 0) console.error(`fenceline: up to ${gone} events are no longer held; going on with the oldest`);
    else process.stdout.write(`${lineOf(data)}\n`);
  }

  try {
    await follow({
      url,
      key,
      onMessage: show,
      onConnected: () =>
        console.error(`fenceline: connected to ${new URL(url).origin}; events are shown as they happen`),
      onLoss: (reason, retryMs) => console.error(`fenceline: ${reason}; next try in ${(retryMs / 1_000).toFixed(1)} s`),
      signal: end.signal,
    });
  } catch (error) {
    throw error instanceof Refused ? new CommandFailure(error.message) : error;
  }
}

/** Records that a message `gap` tells of; 0 for an event. */
function missingIn(data: string): number {
  const { partitions = [] } = JSON.parse(data) as { partitions?: { missing: number }[] };
  return partitions.reduce((sum, { missing }) => sum + missing, 0);
}
