/** What `fenceline doctor` finds: one fact, whether it is good, and what the operator can do otherwise. */
export interface Finding {
  /** A `failure` prevents a start or loses something; a `warning` does so under conditions that the text states. */
  readonly level: 'ok' | 'warning' | 'failure';
  /** What was checked, for example `Kafka`. */
  readonly subject: string;
  readonly text: string;
  /** Empty when the level is ok. */
  readonly remedy: string;
}

/** Checks one part. Rejections are faults of the program: expected problems are findings. */
export type Check = () => AsyncGenerator<Finding>;

/** Makes the findings about one subject. */
export const findingsAbout = (subject: string) => ({
  ok: (text: string): Finding => ({ level: 'ok', subject, text, remedy: '' }),
  warning: (text: string, remedy: string): Finding => ({ level: 'warning', subject, text, remedy }),
  failure: (text: string, remedy: string): Finding => ({ level: 'failure', subject, text, remedy }),
});
