/** Sends the locations of the demo's fleet. They are validated and appended as those of devices are. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ApiDependencies } from '../api/dependencies.js';
import { readLocation } from '../http/location/request.js';
import { recordOf } from '../ingest/intake.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { topics } from '../pipeline/ports.js';
import { Slab } from '../pipeline/records/slab.js';
import type { Device } from './fleet.js';

/** What locations of the fleet are sent with. */
export interface TrafficParts extends Pick<ApiDependencies, 'log' | 'clock'> {
  /** Throws while nothing can be stored. */
  readonly admitWrite?: (() => void) | undefined;
  /** Waits between two ticks; resolves early at the signal. */
  readonly pause?: (ms: number, signal: AbortSignal) => Promise<void>;
}

interface Drive {
  readonly scope: Scope;
  readonly fleet: readonly Device[];
  /** Begins the ids of all devices and users. */
  readonly prefix: string;
  readonly endsAtMs: number;
  readonly signal: AbortSignal;
  /** Receives the number of locations that were sent, every two seconds. Resolves to false to end the drive. */
  readonly report: (locations: number) => Promise<boolean>;
}

const tickMs = 1_000;
/** A device sends a location at every so many ticks: 80 devices send 20 a second in all. */
const ticksPerLocation = 4;
/** The fleet moves this many times as fast as in a city, so that viewers see events soon. */
const pace = 3;
const ticksPerReport = 2;

const pauseUntil = (ms: number, signal: AbortSignal): Promise<void> =>
  delay(ms, undefined, { signal }).catch(() => undefined);

/** Drives the fleet until `endsAtMs`, the signal, or the end of the reports. */
export async function driveFleet(parts: TrafficParts, drive: Drive): Promise<void> {
  const { clock, pause = pauseUntil } = parts;
  const { fleet, endsAtMs, signal, report } = drive;
  let locations = 0;
  for (let tick = 0; clock() < endsAtMs && !signal.aborted; tick++) {
    if (tick % ticksPerReport === 0 && !(await report(locations))) return;
    const due = fleet.filter((_, index) => index % ticksPerLocation === tick % ticksPerLocation);
    await send(parts, drive, due);
    locations += due.length;
    await pause(tickMs, signal);
  }
}

async function send({ log, clock, admitWrite }: TrafficParts, drive: Drive, devices: readonly Device[]): Promise<void> {
  admitWrite?.();
  const slab = new Slab();
  const { project, environment } = drive.scope;
  const receipt = { project, environment, receivedAt: clock(), ip: null, replayed: false, replyTo: null };
  const records = devices.map((device) => {
    device.advance((ticksPerLocation * tickMs * pace) / 1_000);
    const { beacons: _, ...fix } = device.fix();
    const deviceId = `${drive.prefix}-${device.deviceId}`;
    const location = readLocation({ deviceId, userId: deviceId, ...fix }, receipt);
    if (!location.ok) throw new Error(`the demo's location is invalid: ${location.problem.rule}`);
    return recordOf(location.value, slab);
  });
  await log.append(topics.locations, records);
}
