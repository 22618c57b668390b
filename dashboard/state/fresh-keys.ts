/** Keys that were issued while this page is open. Only their hashes are stored, so no later answer contains them. */
import type { Environment } from '../client/call';

const issued = new Map<string, string>();

const nameOf = (project: string, environment: Environment, kind: string): string => `${project}/${environment}/${kind}`;

export function rememberKey(project: string, environment: Environment, kind: string, key: string): void {
  issued.set(nameOf(project, environment, kind), key);
}

export const freshKey = (project: string, environment: Environment, kind: string): string | undefined =>
  issued.get(nameOf(project, environment, kind));
