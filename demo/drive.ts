/** Drives the fleet: the devices report their fixes in turn, at a constant rate for the whole fleet. */
import { performance } from 'node:perf_hooks';
import type { Event } from '../schemas/json/user.js';
import { createRandom } from '../schemas/random.js';
import type { Device } from '../simulation/fleet.js';
import type { ApiClient } from './api-client.js';
import type { Tally } from './tally.js';

interface DriveOptions {
  readonly client: ApiClient;
  readonly fleet: readonly Device[];
  /** Locations per second of the whole fleet. */
  readonly rate: number;
  readonly tally: Tally;
  readonly onEvent: (event: Event) => void;
  readonly onProblem: (message: string) => void;
}

interface Drive {
  /** Stops the reports and waits for open answers. */
  stop(): Promise<void>;
}

const tickMs = 10;
/** Share of reports that are sent again, as by a phone that lost the answer. */
const resentShare = 0.005;
/** Share of reports that arrive after newer ones, as from a phone that was offline. */
const lateShare = 0.0025;
const lateByMs = 60_000;

interface Reporter {
  readonly device: Device;
  movedAtMs: number;
  busy: boolean;
  last: object | undefined;
}

/**
 * Starts to drive the fleet at `rate` locations a second. A device that waits for an answer is skipped, so a slow
 * server gets fewer.
 */
export function startDrive({ client, fleet, rate, tally, onEvent, onProblem }: DriveOptions): Drive {
  const random = createRandom(fleet.length);
  const startedAtMs = performance.now();
  const reporters = fleet.map((device): Reporter => ({ device, movedAtMs: startedAtMs, busy: false, last: undefined }));
  const inFlight = new Set<Promise<void>>();
  let reports = 0;

  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - startedAtMs) * rate) / 1_000);
    for (; reports < due; reports += 1) {
      const reporter = reporters[reports % reporters.length] as Reporter;
      // One request per device at a time: a device that waits for an answer is skipped.
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
      const { message } = error as Error;
      tally.refused(message);
      onProblem(`POST /v1/track: ${message}`);
    }
  }

  return {
    async stop() {
      clearInterval(timer);
      await Promise.all(inFlight);
    },
  };
}

/** Returns the report as an SDK sends it. `updatedAtMs` is the time of the fix by the device's clock. */
const trackBody = (device: Device, nowMs: number) => ({
  deviceId: device.deviceId,
  userId: device.userId,
  deviceType: device.role === 'commuter' ? 'iOS' : 'Android',
  ...device.fix(),
  updatedAtMs: nowMs,
});
