/** Compares scopes: whether records are of one environment of one project. */
import type { Scope } from './types.js';

/** Returns whether both name the same environment of the same project. */
export const isSameScope = (a: Scope, b: Scope): boolean => a.project === b.project && a.environment === b.environment;

/** Returns the record if it is of the scope. */
export const inScope = <T extends Scope>(record: T | undefined, scope: Scope): T | undefined =>
  record && isSameScope(record, scope) ? record : undefined;
