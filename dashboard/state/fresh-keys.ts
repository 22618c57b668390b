/** Keys that were issued while this page is open. Only their hashes are stored, so no later answer contains them. */
import type { Environment } from '../client/call';

const issued = new Map<string, string>();

const nameOf = (project: string, environment: Environment, kind: string): string => `${project}/${environment}/${kind}`;

/** Keeps a key that was just issued, until the page is closed. */
export function rememberKey(project: string, environment: Environment, kind: string, key: string): void {
  issued.set(nameOf(project, environment, kind), key);
}

/** Returns the key, if it was issued since the page was opened. */
export const freshKey = (project: string, environment: Environment, kind: string): string | undefined =>
  issued.get(nameOf(project, environment, kind));
