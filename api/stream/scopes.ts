/**
 * The scope of records of topic `events`, read from their keys (`project/environment/device`) without decoding them.
 */
import type { Caller } from '../../http/access/keys.js';
import type { Scope } from '../../pipeline/catalog/types.js';

export const scopeName = ({ project, environment }: Scope): string => `${project}/${environment}`;

/** Identifies the API key of a follower. */
export const keyName = (caller: Caller): string => `${scopeName(caller)}/${caller.keyHint}`;

/** Returns the scope of a record key. Only the device may contain slashes. */
export const scopeOfKey = (key: string): string => key.slice(0, key.indexOf('/', key.indexOf('/') + 1));
