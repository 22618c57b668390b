/** Drives the fleet: each device in its turn reports its fix, at a steady rate over all of them. */
import { performance } from 'node:perf_hooks';
import type { Event } from '../schemas/json/user.js';
import type { ApiClient } from './api-client.js';
import type { Device } from './fleet.js';
import { createRandom } from './random.js';
import type { Tally } from './tally.js';

export interface DriveOptions {
  readonly client: ApiClient;
  readonly fleet: readonly Device[];
  /** Locations a second, over all devices. */
  readonly rate: number;
  readonly tally: Tally;
  readonly onEvent: (event: Event) => void;
  readonly onProblem: (message: string) => void;
}

export interface Drive {
  /** Ends the reporting and waits for the answers that are still out. */
  stop(): Promise<void>;
}

const tickMs = 10;
/** A phone that lost an answer sends the same report again. */
const resentShare = 0.005;
/** A phone that was offline delivers an old report after a newer one. */
const lateShare = 0.0025;
const lateByMs = 60_000;

interface Reporter {
  readonly device: Device;
  movedAtMs: number;
  busy: boolean;
  last: object | undefined;
}

export function startDrive({ client, fleet, rate, tally, onEvent, onProblem }: DriveOptions): Drive {
  const random = createRandom(fleet.length);
  const startedAtMs = performance.now();
  const reporters = fleet.map((device): Reporter => ({ device, movedAtMs: startedAtMs, busy: false, last: undefined }));
  const inFlight = new Set<Promise<void>>();
  let turns = 0;

  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAtMs) * rate) / 1_000);
    for (; turns < due; turns += 1) {
      const reporter = reporters[turns % reporters.length] as Reporter;
      // One request per device at a time: a device whose answer is out lets its turn pass.
      if (!reporter.busy) launch(reporter);
    }
  }, tickMs);

  function launch(reporter: Reporter): void {
    reporter.busy = true;
    const sending = send(nextReport(reporter)).finally(() => {
      reporter.busy = false;
      inFlight.delete(sending);
    });
    inFlight.add(sending);
  }

  function nextReport(reporter: Reporter): object {
    if (reporter.last && random.chance(resentShare)) return reporter.last;
    const { device } = reporter;
    const nowMs = performance.now();
    device.advance((nowMs - reporter.movedAtMs) / 1_000);
    reporter.movedAtMs = nowMs;
    const report = trackBody(device, Date.now());
    if (reporter.last && random.chance(lateShare)) return { ...report, updatedAtMs: report.updatedAtMs - lateByMs };
    reporter.last = report;
    return report;
  }

  async function send(report: object): Promise<void> {
    tally.sent();
    const sentAtMs = performance.now();
    try {
      const { status, body } = await client.call('POST', '/v1/track', report);
      if (status !== 200) throw new Error(`${status} ${JSON.stringify(body?.meta ?? body)}`);
      tally.accepted(performance.now() - sentAtMs);
      for (const event of body.events as Event[]) onEvent(event);
    } catch (error) {
      tally.refused();
      onProblem(`POST /v1/track: ${(error as Error).message}`);
    }
  }

  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
    },
  };
}

/** As a phone's SDK would report. `updatedAtMs` is the time of the fix by the device's clock. */
const trackBody = (device: Device, nowMs: number) => ({
  deviceId: device.deviceId,
  userId: device.userId,
  deviceType: device.role === 'commuter' ? 'iOS' : 'Android',
  ...device.fix(),
  updatedAtMs: nowMs,
});
