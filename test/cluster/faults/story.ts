/** What a workload does in peace, and disturbed runs of it held against that. */
import { expect } from 'vitest';
import { brokenPromises, type Promised, type Run } from '../../ledger/verdict.js';
import { buildWorkload, type Workload } from '../../ledger/workload.js';
import { type MeasuredRun, oneNode, run } from './run.js';

const endMs = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;

/** One per file: the undisturbed run is made once, by the first who needs it. */
export class Story {
  readonly workload: Workload = buildWorkload(1, { devices: 100, locationsPerDevice: 100 }, endMs);
  readonly total = this.workload.devices.flat().length;
  #undisturbed: Promise<Run> | undefined;

  /** Nothing was lost, and nothing is other than in peace. */
  async expectSame(what: string, disturbed: MeasuredRun, promised?: Partial<Promised>): Promise<void> {
    const { loggedIds, events, arrivedAgain } = disturbed.ledger;
    console.log(
      `${what}: ${this.total} locations, ${events.length} events, ${repeatsInLog(disturbed)} repeats in the log, ` +
        `${arrivedAgain} locations sent again, ${disturbed.receiver.requests.length} requests at the webhook, ` +
        `at longest ${disturbed.longestPauseMs} ms without a location applied`,
    );
    this.#undisturbed ??= run({ workload: this.workload, nodes: oneNode });
    const { ledger } = await this.#undisturbed;
    expect(loggedIds.length).toBeGreaterThan(this.total / 20);
    expect(brokenPromises(this.workload, ledger, disturbed, { repeatsInLog: true, ...promised }), what).toEqual([]);
  }
}

/** How often the log has an event that it had before. */
export const repeatsInLog = ({ ledger: { loggedIds } }: Run): number => loggedIds.length - new Set(loggedIds).size;
