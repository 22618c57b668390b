/** Compares disturbed runs of a workload with an undisturbed one. */
import { expect, inject } from 'vitest';
import type { Ledger } from '../../ledger/ledger.js';
import { onceInThisRun } from '../../ledger/once-in-this-run.js';
import { brokenPromises, type Promised, type Run } from '../../ledger/verdict.js';
import { buildWorkload, type Workload } from '../../ledger/workload.js';
import { inCampaign } from './campaign.js';
import { type MeasuredRun, oneNode, run } from './run.js';

/** The same value in all files of this run, which share the ledger of the undisturbed run. */
const endMs = Math.floor(inject('oneRun').startedAtMs / 1_000) * 1_000 - 60_000;

const size = inCampaign({ devices: 100, locationsPerDevice: 100 }, { devices: 40, locationsPerDevice: 50 });

export class Story {
  readonly workload: Workload = buildWorkload(1, size, endMs);
  readonly total = this.workload.devices.flat().length;

  /** Expects that nothing was lost, and that nothing differs from the undisturbed run. */
  async expectSame(what: string, disturbed: MeasuredRun, promised?: Partial<Promised>): Promise<void> {
    const { loggedIds, events, arrivedAgain, unanswered } = disturbed.ledger;
    console.log(
      `${what}: ${this.total} locations, ${events.length} events, ${repeatsInLog(disturbed)} repeats in the log, ` +
        `${arrivedAgain} locations sent again, ${disturbed.receiver.requests.length} requests at the webhook, ` +
        `attempts without an answer: ${unanswered.map(({ result }) => result).join() || 'none'}, ` +
        `at longest ${disturbed.longestPauseMs} ms without a location applied`,
    );
    const ledger = await onceInThisRun<Ledger>(
      'undisturbed-ledger',
      async () => (await run({ workload: this.workload, nodes: oneNode })).ledger,
    );
    expect(loggedIds.length).toBeGreaterThan(this.total / 20);
    const broken = brokenPromises(this.workload, ledger, disturbed, { repeatsInLog: true, ...promised });
    if (broken.length > 0) console.log(disturbed.log);
    expect(broken, what).toEqual([]);
  }
}

/** Returns how many events of the log repeat an earlier one. */
export const repeatsInLog = ({ ledger: { loggedIds } }: Run): number => loggedIds.length - new Set(loggedIds).size;
