/** Finds a record of a table by its id, which may be any text of a client. */
import type { Database } from 'lmdb';
import { isId } from '../../../../schemas/ids.js';
import { inScope } from '../../scope.js';
import type { Scope } from '../../types.js';
import { idKey } from './keys.js';

/** Returns the record; undefined if there is none. */
export const find = <T>(table: Database<T, Buffer>, id: string): T | undefined =>
  isId(id) ? table.get(idKey(id)) : undefined;

/** Returns the record of the scope; undefined if there is none. */
export const findInScope = <T extends Scope>(table: Database<T, Buffer>, scope: Scope, id: string): T | undefined =>
  inScope(find(table, id), scope);
