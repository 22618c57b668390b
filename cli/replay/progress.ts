/** How far a replay has come, on a terminal: one line that is written over. */

const everyMs = 200;
const eraseLine = '\r\u001b[K';

interface Progress {
  add(records: number): void;
  /** Clears the line. */
  end(): void;
}

const silent: Progress = { add: () => {}, end: () => {} };

/** Shows progress of `total` records. Prints nothing if `terminal` is not a terminal. */
export function createProgress(terminal: NodeJS.WriteStream, total: number): Progress {
  if (!terminal.isTTY) return silent;
  const startedAtMs = performance.now();
  let shownAtMs = 0;
  let done = 0;
  return {
    add(records) {
      done += records;
      const nowMs = performance.now();
      if (nowMs - shownAtMs < everyMs) return;
      shownAtMs = nowMs;
      const perSecond = Math.round((1_000 * done) / (nowMs - startedAtMs));
      const share = Math.floor((100 * done) / Math.max(total, 1));
      terminal.write(
        `${eraseLine}${share} % · ${done.toLocaleString('en-US')} locations · ${perSecond.toLocaleString('en-US')}/s`,
      );
    },
    end: () => void terminal.write(eraseLine),
  };
}
