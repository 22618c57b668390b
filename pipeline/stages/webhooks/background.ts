/** Work that nobody waits for, until the end. */
export class Background {
  readonly #onFailure: (error: unknown) => void;
  #running = 0;
  #onIdle: () => void = () => {};

  /** @param onFailure is told of every rejection. */
  constructor(onFailure: (error: unknown) => void) {
    this.#onFailure = onFailure;
  }

  run(work: Promise<unknown>): void {
    this.#running += 1;
    work.then(this.#ended, (error) => {
      this.#onFailure(error);
      this.#ended();
    });
  }

  /** Resolves when nothing is running. */
  async idle(): Promise<void> {
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  readonly #ended = (): void => {
    this.#running -= 1;
    if (this.#running === 0) this.#onIdle();
  };
}
