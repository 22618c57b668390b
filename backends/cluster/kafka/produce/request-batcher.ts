/**
 * One request at a time, which takes along all that waits by then.
 *
 * Flows in: what partitions have to say to a broker. Flows out: to each its part of the answer. Loads are made when a
 * request leaves, so that what came while the one before was under way goes along.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Route<Load, Answer> {
  /** Answers in the order of the loads. */
  deliver(loads: readonly Load[]): Promise<readonly Answer[]>;
  /** Whether no further load is to be taken along. */
  isFull(loads: readonly Load[]): boolean;
}

interface Passenger<Load, Answer> {
  readonly load: () => Load;
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

export class Courier<Load, Answer> {
  private readonly waiting: Passenger<Load, Answer>[] = [];
  private isRunning = false;

  constructor(private readonly route: Route<Load, Answer>) {}

  /** The answer to this load. Rejects when there was none to the request that took it along. */
  carry(load: () => Load): Promise<Answer> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ load, resolve, reject });
      if (!this.isRunning) void this.run();
    });
  }

  private async run(): Promise<void> {
    this.isRunning = true;
    while (this.waiting.length > 0) {
      // Whoever comes within this turn goes along.
      await nextTurn();
      await this.ride();
    }
    this.isRunning = false;
  }

  private async ride(): Promise<void> {
    const loads: Load[] = [];
    const passengers: Passenger<Load, Answer>[] = [];
    try {
      while (this.waiting.length > 0 && !this.route.isFull(loads)) {
        const passenger = this.waiting.shift() as Passenger<Load, Answer>;
        passengers.push(passenger);
        loads.push(passenger.load());
      }
      const answers = await this.route.deliver(loads);
      for (const [i, passenger] of passengers.entries()) passenger.resolve(answers[i] as Answer);
    } catch (error) {
      for (const passenger of passengers) passenger.reject(error);
    }
  }
}
