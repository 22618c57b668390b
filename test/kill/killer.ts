/** Kills a server with SIGKILL at random moments while it works, and while it starts. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../testing/random.js';
import { until } from '../../testing/until.js';
import type { Progress } from '../ledger/sender.js';
import type { TestServer } from '../support/server.js';

export interface KillPlan {
  /** Kills under load, spread over the work. */
  readonly kills: number;
  /** Share of restarts that are killed as well, before or after they are ready. */
  readonly killsDuringStart: number;
}

const maxDelayMs = 60;
const maxStartMs = 1_500;
const patience = { timeoutMs: 60_000 };

/** Resolves with the number of kills when the last one is over and the server is ready again. */
export async function killRepeatedly(
  server: TestServer,
  { kills, killsDuringStart }: KillPlan,
  progress: Progress,
  totalLocations: number,
  random: Random,
): Promise<number> {
  let done = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    const due = (totalLocations * (kill + random.between(0.1, 0.9))) / (kills + 1);
    await until(() => progress.acknowledged >= due, patience);
    await delay(random.between(0, maxDelayMs));
    await killAndLaunch(server);
    done += 1;
    if (random.chance(killsDuringStart)) {
      await delay(random.between(0, maxStartMs));
      await killAndLaunch(server);
      done += 1;
    }
    await server.ready();
  }
  return done;
}

async function killAndLaunch(server: TestServer): Promise<void> {
  const { signal } = await server.kill();
  if (signal !== 'SIGKILL')
    throw new Error(`the server had ended by itself (${signal})\n${server.process.log().join('\n')}`);
  server.launchAgain();
}
