/** Fenceline as a server with all its parts: uploads and track calls over HTTP, everything on disk. */
import { setTimeout as delay } from 'node:timers/promises';
import { BenchServer } from '../server.js';
import { usageOf } from '../usage.js';
import { recordOf } from '../workload.js';
import type { Fence } from '../workloads/workload.js';
import type { Engine, Peer, Transition, Usage } from './engine.js';
import { fencelinePeer } from './fenceline.js';
import type { Scene } from './scene.js';

const linesPerRequest = 2_000;
const requestsInFlight = 4;
const pollMs = 5;
/** Fixes of the workload are older than a server accepts, so all are moved by the same time. */
const ageMs = 3 * 86_400_000;

interface TrackAnswer {
  readonly events: readonly { readonly type: string; readonly geofence?: { readonly externalId: string } }[];
}

class FencelineServerEngine implements Engine {
  readonly #scene: Scene;
  readonly #shiftMs: number;
  #server: BenchServer | undefined;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.#shiftMs = Date.now() - ageMs - scene.fixes.timesMs[0]!;
  }

  async load(fences: Iterable<Fence>): Promise<void> {
    const records = function* (project: string) {
      for (const fence of fences) yield recordOf(fence, project);
    };
    this.#server = await BenchServer.configured(records, () => []);
  }

  async apply(from: number, to: number): Promise<void> {
    const server = this.#server!;
    const evaluated = () => server.counter('locations_evaluated_total');
    const target = (await evaluated()) + to - from;
    const starts = Array.from(
      { length: Math.ceil((to - from) / linesPerRequest) },
      (_, index) => from + index * linesPerRequest,
    );
    const remaining = starts[Symbol.iterator]();
    const send = async (): Promise<void> => {
      for (const start of remaining) {
        await server.upload(this.#lines(start, Math.min(to, start + linesPerRequest)));
      }
    };
    await Promise.all(Array.from({ length: requestsInFlight }, send));
    while ((await evaluated()) < target) await delay(pollMs);
  }

  async locate(fix: number): Promise<readonly Transition[]> {
    const { keys } = this.#server!;
    const { status, text } = await this.#server!.send('POST', '/v1/track', keys.test_publishable, this.#body(fix));
    if (status !== 200) throw new Error(`track answered ${status}: ${text}`);
    const { events } = JSON.parse(text) as TrackAnswer;
    return events.flatMap(({ type, geofence }): Transition[] =>
      geofence === undefined
        ? []
        : [{ fix, fence: Number(geofence.externalId), kind: type === 'user.entered_geofence' ? 'enter' : 'exit' }],
    );
  }

  async put({ number, center, radiusM }: Fence): Promise<void> {
    const fence = { description: 'New', type: 'circle', coordinates: center, radius: radiusM };
    const path = `/v1/geofences/bench/${number}`;
    const { status, text } = await this.#server!.send(
      'PUT',
      path,
      this.#server!.keys.test_secret,
      JSON.stringify(fence),
    );
    if (status >= 300) throw new Error(`the upsert was answered ${status}: ${text}`);
  }

  async restart(): Promise<void> {
    await this.#server!.kill();
    await this.#server!.start();
  }

  async usage(): Promise<Usage> {
    return usageOf(this.#server!.pid);
  }

  async stop(): Promise<void> {
    await this.#server?.dispose();
  }

  #lines(from: number, to: number): Buffer {
    let text = '';
    for (let fix = from; fix < to; fix++) text += `${this.#body(fix)}\n`;
    return Buffer.from(text);
  }

  #body(fix: number): string {
    const { devices, latitudes, longitudes, accuraciesM, timesMs } = this.#scene.fixes;
    return JSON.stringify({
      deviceId: `device-${devices[fix]}`,
      latitude: latitudes[fix],
      longitude: longitudes[fix],
      accuracy: accuraciesM[fix],
      updatedAtMs: timesMs[fix]! + this.#shiftMs,
      foreground: true,
    });
  }
}

/** Fenceline over HTTP. */
export const fencelineHttpPeer: Peer = {
  name: 'fenceline-http',
  about: 'a server with all its parts: four uploads of 2,000 locations under way, or a track call for each location',
  durability: 'everything that was acknowledged: locations, fences and visits',
  semantics: fencelinePeer.semantics,
  hasPolygons: true,
  install: '',
  lacking: async () => undefined,
  version: fencelinePeer.version,
  start: async (scene) => new FencelineServerEngine(scene),
};
