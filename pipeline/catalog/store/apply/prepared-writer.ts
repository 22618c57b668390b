/** Writes geofences that were prepared in another thread. All calls must run in one write transaction. */
import type { ChangedThing, PreparedFence } from '../../types.js';
import type { Databases } from '../tables/databases.js';
import { idKey } from '../tables/keys.js';
import { setVersion } from '../tables/stored-fence.js';
import type { ListWriter } from './list-writer.js';

interface PreparedWriter {
  /**
   * Stores a geofence, unless there is one of its id. Returns whether it did: one search of the table finds out and
   * writes.
   */
  create(id: string, prepared: PreparedFence, version: number): boolean;
  undoCreation(id: string): void;
  /** Lists a geofence that `create` has stored. Returns what followers must read again. */
  list(id: string, prepared: PreparedFence): ChangedThing;
  /** Replaces the geofence for which the change was prepared. Returns what followers must read again. */
  replace(id: string, prepared: PreparedFence, version: number): ChangedThing;
}

/** Creates the writer of prepared geofences. */
export function createPreparedWriter({ storedFences }: Databases, lists: ListWriter): PreparedWriter {
  function create(id: string, prepared: PreparedFence, version: number): boolean {
    setVersion(prepared.stored, version);
    // The package's types lack the result.
    return storedFences.putSync(idKey(id), prepared.stored, { noOverwrite: true }) as unknown as boolean;
  }

  function list(id: string, prepared: PreparedFence): ChangedThing {
    lists.relistPrepared(id, prepared);
    return { kind: 'geofence', id, scope: prepared.scope };
  }

  function replace(id: string, prepared: PreparedFence, version: number): ChangedThing {
    setVersion(prepared.stored, version);
    storedFences.putSync(idKey(id), prepared.stored);
    return list(id, prepared);
  }

  return { create, undoCreation: (id) => void storedFences.removeSync(idKey(id)), list, replace };
}
