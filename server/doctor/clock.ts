/** Compares this machine's clock with a service's. */
import { type Finding, findingsAbout } from './finding.js';

const { ok, warning } = findingsAbout('clock');
/** Sessions, leases and the expiry of geofences compare times of different machines. */
const maxSkewMs = 1_000;

/** Asks the service for its time. The error of the comparison is half of the time that the answer takes. */
export async function compareClock(service: string, askTimeMs: () => Promise<number>): Promise<Finding> {
  const beforeMs = Date.now();
  const theirsMs = await askTimeMs();
  const afterMs = Date.now();
  const skewMs = Math.round(theirsMs - (beforeMs + afterMs) / 2);
  const errorMs = Math.ceil((afterMs - beforeMs) / 2);
  const text = `${service} is ${Math.abs(skewMs)} ms ${skewMs < 0 ? 'behind' : 'ahead'}, give or take ${errorMs} ms`;
  if (Math.abs(skewMs) - errorMs <= maxSkewMs) return ok(text);
  return warning(text, 'Synchronise the clocks of all machines, for example with chrony or systemd-timesyncd.');
}
