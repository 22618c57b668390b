/** The failure of requests that the server does not answer. */

/** The request did not reach the server, its answer did not come back, or a proxy answered in place of the server. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
  /** @param isChange whether the request may have changed something: its repetition is safe. */
  constructor(isChange: boolean) {
    super(`The server did not answer.${isChange ? ' Try again: what it has done already is not done twice.' : ''}`);
  }
}
