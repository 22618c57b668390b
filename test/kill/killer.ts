/** Kills a server with SIGKILL at random moments while it works and while it starts. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../schemas/random.js';
import { until } from '../../testing/until.js';
import type { Progress } from '../ledger/sender.js';
import type { TestServer } from '../support/server.js';

export interface KillPlan {
  /** Kills under load, spread over the work. */
  readonly kills: number;
  /** How many of the restarts are killed as well, before or after they are ready. At most `kills`. */
  readonly killsDuringStart: number;
}

export interface Kills {
  /** Kills while locations were still being sent. */
  readonly underLoad: number;
  readonly duringStart: number;
}

const maxDelayMs = 60;
const maxStartMs = 1_500;

/** Resolves when the last kill is over and the server is ready again. */
export async function killRepeatedly(
  server: TestServer,
  { kills, killsDuringStart }: KillPlan,
  progress: Progress,
  totalLocations: number,
  random: Random,
): Promise<Kills> {
  const order = Array.from({ length: kills }, (_, kill) => ({ kill, rank: random.next() }));
  const early = new Set(
    order
      .sort((a, b) => a.rank - b.rank)
      .slice(0, killsDuringStart)
      .map(({ kill }) => kill),
  );
  let [underLoad, duringStart] = [0, 0];
  for (let kill = 0; kill < kills; kill += 1) {
    const due = (totalLocations * (kill + random.between(0.1, 0.9))) / (kills + 1);
    // However fast the machine is, the kill comes before all is sent.
    progress.limit = (due + totalLocations) / 2;
    await until(() => progress.acknowledged >= due);
    await delay(random.between(0, maxDelayMs));
    await killAndLaunch(server);
    if (progress.acknowledged < totalLocations) underLoad += 1;
    if (early.has(kill)) {
      await delay(random.between(0, maxStartMs));
      await killAndLaunch(server);
      duringStart += 1;
    }
    await server.ready();
  }
  progress.limit = Number.POSITIVE_INFINITY;
  return { underLoad, duringStart };
}

async function killAndLaunch(server: TestServer): Promise<void> {
  const { signal } = await server.kill();
  if (signal !== 'SIGKILL')
    throw new Error(`the server had ended by itself (${signal})\n${server.process.log().join('\n')}`);
  server.launchAgain();
}
