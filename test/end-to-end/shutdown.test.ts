/** A graceful stop under traffic: everything acknowledged is there afterwards, and the process exits with status 0. */
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { launchServer } from '../../server/server-process.js';
import { until } from '../../testing/until.js';
import { type Json, ok, trackDefaults } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { program } from '../support/program.js';
import { TestServer } from '../support/server.js';

let server: TestServer;

beforeAll(async () => {
  server = await TestServer.start({ FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0' });
  await server.as('test_secret').putGeofence('dock', circle(0, 0, 100));
});
afterAll(() => server?.dispose());

/** More are not listed at once. A fast machine would send them before the server is stopped. */
const maxUnhurried = 300;

/** Enters and leaves the fence until the server refuses. Returns what was acknowledged. */
async function sendUntilRefused(
  deviceId: string,
  onAcknowledged: () => void,
): Promise<{ acknowledged: number; events: string[] }> {
  const device = server.as('test_publishable');
  const startMs = Date.now() - 3_600_000;
  const events: string[] = [];
  for (let acknowledged = 0; ; acknowledged += 1) {
    const updatedAt = new Date(startMs + acknowledged * 1_000).toISOString();
    const report = { deviceId, ...trackDefaults, ...standing(acknowledged % 2 === 0 ? 0 : 900, 0), updatedAt };
    try {
      const { status, body } = await device.post('/v1/track', report);
      if (status === 503) return { acknowledged, events };
      expect(status).toBe(200);
      events.push(...body.events.map((event: Json) => event._id));
      onAcknowledged();
      if (acknowledged >= maxUnhurried) await delay(200);
    } catch (error) {
      // The connection was refused or closed, so nothing was acknowledged.
      expect((error as Error).name).toBe('TypeError');
      return { acknowledged, events };
    }
  }
}

describe('SIGTERM under load', () => {
  it('ends with status 0 and loses nothing', async () => {
    const names = Array.from({ length: 20 }, (_, index) => `ship-${index}`);
    const heard = new Set<string>();
    const traffic = Promise.all(names.map((name) => sendUntilRefused(name, () => heard.add(name))));
    const backend = server.as('test_secret');
    await until(async () => (await backend.get('/v1/events?limit=1')).body.events?.length > 0);
    await until(() => heard.size === names.length);
    expect(await server.stop()).toEqual({ code: 0, signal: null });
    const sent = await traffic;

    await server.restart();
    for (const [index, { acknowledged, events }] of sent.entries()) {
      expect(acknowledged).toBeGreaterThan(0);
      const listed = await until(
        async () => {
          const found = ok(await backend.get(`/v1/events?deviceId=${names[index]}&limit=1000`)).events;
          return found.length >= acknowledged && found;
        },
        { describe: () => `${acknowledged} events of ${names[index]}` },
      );
      // One more location may have been applied whose answer was cut off.
      expect(listed.length - acknowledged).toBeLessThanOrEqual(1);
      const ids = new Set(listed.map((event: Json) => event._id));
      expect(ids.size).toBe(listed.length);
      expect(events.every((id) => ids.has(id))).toBe(true);
    }
  });
});

describe('a data folder in use', () => {
  it('makes a second process fail', async () => {
    const second = launchServer({ program, dataFolder: server.dataFolder });
    onTestFinished(async () => void (await second.kill()));
    await expect(second.ready).rejects.toThrow();
    expect((await second.exited).code).not.toBe(0);
    await until(async () => (await server.withKey(undefined).get('/health/ready')).status === 200);
  });
});

// The last test, because it leaves no server.
it('SIGTERM ends an idle server without waiting for the drain timeout', async () => {
  expect(await server.stop()).toEqual({ code: 0, signal: null });
  expect(server.process.log().join('\n')).not.toContain('connections cut');
});
