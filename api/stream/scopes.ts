/**
 * Whose a record of topic `events` is, by its key: `project/environment/device`. Most records need not be decoded for
 * it.
 */
import type { Caller } from '../../http/access/keys.js';
import type { Scope } from '../../pipeline/catalog/types.js';

export const scopeName = ({ project, environment }: Scope): string => `${project}/${environment}`;

/** Tells keys apart, of those who follow the topic. */
export const keyName = (caller: Caller): string => `${scopeName(caller)}/${caller.keyHint}`;

/** Neither projects nor environments have a slash in their names; devices may. */
export const scopeOfKey = (key: string): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1));
