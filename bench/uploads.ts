/** Bulk uploads of wandering devices. */
import type { Answer } from './http.js';
import { wander } from './workload.js';

const devices = 20_000;
const linesPerRequest = 2_000;
const requestsInFlight = 4;

/** What a line has besides the fix: nothing, or what an SDK says of the user and the device. */
export type UploadShape = 'plain' | 'sdk';

const reportedBySdk = (device: number): object => ({
  userId: `user-${device}`,
  installId: `3f2504e0-4f89-41d3-9a0c-${String(device).padStart(12, '0')}`,
  description: `Driver ${device}`,
  metadata: { plan: device % 3 === 0 ? 'gold' : 'basic', fleet: device % 50, city: 'San Francisco', shift: 'night' },
  deviceType: 'Android',
  deviceMake: 'Google',
  deviceModel: 'Pixel 8',
  deviceOS: '14',
  sdkVersion: '3.9.1',
  locationAuthorization: 'GRANTED_BACKGROUND',
  locationAccuracyAuthorization: 'FULL',
  altitude: 12.5,
  speed: 3.2,
  course: 181,
});

/** Returns NDJSON bodies. Device times start at `startMs` and advance one second per round of all devices. */
export function uploadBodies(count: number, seed: number, startMs: number, shape: UploadShape = 'plain'): Buffer[] {
  const fixes = wander(devices, seed);
  return Array.from({ length: count / linesPerRequest }, (_, body) => {
    const lines = Array.from({ length: linesPerRequest }, (_, line) => {
      const { device, longitude, latitude } = fixes.next().value;
      const updatedAtMs = startMs + Math.floor((body * linesPerRequest + line) / devices) * 1_000;
      return JSON.stringify({
        deviceId: `device-${device}`,
        latitude: Number(latitude.toFixed(6)),
        longitude: Number(longitude.toFixed(6)),
        accuracy: 10,
        updatedAtMs,
        foreground: true,
        ...(shape === 'sdk' && reportedBySdk(device)),
      });
    });
    return Buffer.from(`${lines.join('\n')}\n`);
  });
}

/** Sends the bodies, several at a time. Resolves when all are acknowledged. */
export async function uploadAll(requests: readonly Buffer[], send: (body: Buffer) => Promise<Answer>): Promise<void> {
  const remaining = requests[Symbol.iterator]();
  async function sender(): Promise<void> {
    for (const body of remaining) {
      const { status, text } = await send(body);
      if (status !== 200) throw new Error(`bulk answered ${status}: ${text}`);
    }
  }
  await Promise.all(Array.from({ length: requestsInFlight }, sender));
}
