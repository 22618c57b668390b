/**
 * How long a node's stages wait for services that answer, but can serve no process at the moment: replicas are away, or
 * memory is full. Another process would get the same answer, so ending this one helps nobody. Rows wait for ClickHouse
 * in the same way, and records with an unknown schema for the registry, whether these answer or not.
 */
export class Patience {
  readonly #onRefusal: (service: RefusingService, reason: string) => void;
  #waits = 0;
  #isOver = false;

  /** `onRefusal` is called for each such answer. */
  constructor(onRefusal: (service: RefusingService, reason: string) => void = () => {}) {
    this.#onRefusal = onRefusal;
  }

  /** Number of failures so far for which work waits. While it grows, any work may wait for a service. */
  get waits(): number {
    return this.#waits;
  }

  /** True once the node stops: what a stage waits for must not keep the process from ending. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Notes the answer of a service that serves no process at the moment, and reports it. */
  refused(service: RefusingService, reason: string): void {
    this.waited();
    this.#onRefusal(service, reason);
  }

  /** Counts a failure of a service on which nothing but history depends. */
  waited(): void {
    this.#waits += 1;
  }

  /** Ends all waits, because the node stops. */
  end(): void {
    this.#isOver = true;
  }
}

/** Services that may answer that they serve nobody at the moment. */
export type RefusingService = 'kafka' | 'redis' | 'registry';
