/** Why a process of Fenceline cannot start or go on, apart from faults of the program. Each is reported in one line. */

/** The configuration is invalid. The message names each problem. */
export class ConfigurationError extends Error {
  /** @param problems each begins with its setting or variable. */
  constructor(problems: readonly string[]) {
    super(`invalid configuration: ${problems.join('; ')}`);
  }
}

/** Something outside prevents the start or the work, for example another process that uses the data folder. */
export class StartError extends Error {}
