/**
 * Writes geofences and beacons: replaces, merges and deletes them.
 *
 * Every write replaces the whole record and is based on the current one. A PATCH first merges its fields into those of
 * the current record.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { accepted, type RawFields } from '../../http/fields/reader.js';
import type { ConfigurationWriter, Scope } from '../../pipeline/catalog/types.js';
import { ApiError } from '../../schemas/errors.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import { type Edit, queueOf } from '../edits.js';
import { mergedFields } from '../merge-patch.js';
import { createSerializer } from '../serialize.js';
import { enables, withoutPassedDate } from './enabling.js';
import { type Pair, refuseOtherPair } from './fields.js';
import type { PairedResource } from './resource.js';

/** Another edit came between reading a record for a PATCH and writing it. */
class OtherEdit extends Error {}

const maxPatchAttempts = 10;
/** Patches of one record that run or wait. */
const maxUnfinishedPatches = 1_000;

interface Http {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** What a write replaces: nothing, the record that callers see, or one that they do not see any more. */
interface Replaced<Stored> {
  readonly isExisting: boolean;
  readonly base: Stored | undefined;
}

/** Creates the edits of a resource. They throw the errors of {@link Edit}, and those that the resource answers. */
export function createPairedEdits<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  resource: PairedResource<Given, Input, Stored>,
  { writer, clock }: { readonly writer: Pick<ConfigurationWriter, 'catchUp'>; readonly clock: () => number },
  edit: Edit,
) {
  const { name } = resource;
  const serialize = createSerializer(maxUnfinishedPatches);
  type GivenPair = Given & Pick<Stored, keyof Pair>;
  type InputPair = Input & Pick<Stored, keyof Pair>;

  const replaced = (scope: Scope, id: string, given: Given | Input): Stored | undefined =>
    resource.replaced ? resource.replaced(scope, id, given) : resource.find(scope, id);

  async function completed(scope: Scope, given: GivenPair, id: string | undefined): Promise<InputPair> {
    async function current(): Promise<Stored | undefined> {
      if (id === undefined) return undefined;
      await writer.catchUp();
      return replaced(scope, id, given);
    }
    return accepted(await resource.complete(scope, given, current));
  }

  /** Writes the record that follows from the input and from what it replaces, which is read again for each attempt. */
  async function save(http: Http, queue: string, input: InputPair, read: () => Replaced<Stored>): Promise<Stored> {
    const scope = callerOf(http.request);
    const others = resource.queues?.(scope, input, read().base) ?? [];
    return edit(http, [queueOf(name, queue), ...others], (nowMs) => {
      const { isExisting, base } = read();
      resource.confirm?.(scope, input, base);
      const record = resource.record(scope, input, base, nowMs);
      if (record.enabled || !isExisting) resource.admit?.(scope);
      return { kind: name, id: record._id, record, isExisting, result: record };
    });
  }

  /** Merges the changes into the record, again for each edit that comes between reading and writing it. */
  async function merge(http: Http, changes: RawFields, find: () => Stored): Promise<Stored> {
    const scope = callerOf(http.request);
    for (let attempt = 1; attempt <= maxPatchAttempts; attempt++) {
      const base = find();
      const { tag, externalId } = base;
      refuseOtherPair(changes, { tag, externalId });
      const merged = enables(changes) ? withoutPassedDate(base, clock()) : base;
      const given = accepted(resource.read(mergedFields(resource.stored, merged, changes), { tag, externalId }));
      const input = await completed(scope, given, base._id);
      const read = (): Replaced<Stored> => {
        const current = find();
        // Merged into an older record, the fields would undo the other edit.
        if (current.updatedAt !== base.updatedAt) throw new OtherEdit();
        return { isExisting: true, base: current };
      };
      try {
        return await save(http, base._id, input, read);
      } catch (error) {
        if (!(error instanceof OtherEdit)) throw error;
      }
    }
    throw new ApiError('edit_conflict', 'other edits of this record keep coming first; try again');
  }

  return {
    /** Creates the record, or replaces that of the same pair. */
    async upsert(http: Http, given: GivenPair): Promise<Stored> {
      const scope = callerOf(http.request);
      const id = resource.idOf(scope, given);
      const input = await completed(scope, given, id);
      if (id === undefined) return save(http, http.request.id, input, () => ({ isExisting: false, base: undefined }));
      return save(http, id, input, () => ({
        isExisting: resource.find(scope, id) !== undefined,
        base: replaced(scope, id, input),
      }));
    },

    /** Replaces the record of an id, which `find` returns or throws that there is none. */
    async replace(http: Http, id: string, fields: RawFields, find: () => Stored): Promise<Stored> {
      const scope = callerOf(http.request);
      // Another node may have created the record a moment ago.
      if (resource.find(scope, id) === undefined) await writer.catchUp();
      // The pair of an id never changes.
      const { tag, externalId } = find();
      refuseOtherPair(fields, { tag, externalId });
      const input = await completed(scope, accepted(resource.read(fields, { tag, externalId })), id);
      return save(http, id, input, () => ({ isExisting: true, base: find() }));
    },

    /**
     * Writes what follows from the current record and the fields of a PATCH. Patches of one record run one after the
     * other on this node: each merges what the one before has written.
     */
    async patch(http: Http, changes: RawFields, find: () => Stored): Promise<Stored> {
      await writer.catchUp();
      return serialize(find()._id, () => merge(http, changes, find));
    },

    /** Deletes the record that `find` returns. */
    async remove(http: Http, queue: string, find: () => Stored): Promise<void> {
      await edit(http, queueOf(name, queue), () => ({
        kind: name,
        id: find()._id,
        record: null,
        isExisting: true,
        result: null,
      }));
    },
  };
}
