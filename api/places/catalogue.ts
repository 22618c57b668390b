/**
 * Writes many places at once: for catalogues. Each is created, updated, or found unchanged; a place that breaks a rule
 * is reported and does not hinder the others.
 */
import { isDeepStrictEqual } from 'node:util';
import { unknownField } from '../../http/fields/table.js';
import { isDictionary } from '../../http/fields/values.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { ApiError, type FieldProblem } from '../../schemas/errors.js';
import { placeRecordId } from '../../schemas/ids.js';
import type { PlaceRecord } from '../../schemas/json/place.js';
import type { ApiDependencies } from '../dependencies.js';
import { catchUpWithAuthority, type EditAuthority } from '../edits.js';
import { type PlaceInput, placeFields, placeRecord, readPlace } from './fields.js';

/** Most places that a batch changes. */
export const maxPlacesPerRequest = 1_000;
/** After this many attempts another node must be editing the same places continuously. */
const maxAttempts = 10;

/** What is wrong with one place of a request. */
interface PlaceProblem extends Partial<FieldProblem> {
  /** Number of the place in the request, from 0. */
  readonly index: number;
  readonly message: string;
}

/** What became of the records of a catalogue. `problems` has one for each that is refused. */
export interface CatalogueResult {
  created: number;
  updated: number;
  unchanged: number;
  readonly problems: PlaceProblem[];
}

/** A Feature of GeoJSON says the same in other words: its properties are the fields. */
function fieldsOf(item: unknown): unknown {
  if (!isDictionary(item) || item.type !== 'Feature') return item;
  const { properties, geometry, id } = item;
  return { ...(id !== undefined && { _id: id }), ...(isDictionary(properties) ? properties : {}), geometry };
}

/** Returns the valid places by the id of their record, and the problems of the others. An id counts once. */
function readAll(scope: Scope, items: readonly unknown[]) {
  const problems: PlaceProblem[] = [];
  const inputs = new Map<string, PlaceInput>();
  for (const [index, item] of items.entries()) {
    const fields = fieldsOf(item);
    if (!isDictionary(fields)) {
      problems.push({ index, message: 'must be an object of fields' });
      continue;
    }
    const unknown = unknownField(placeFields, fields);
    if (unknown !== undefined) {
      problems.push({ index, param: unknown.param, message: `${unknown.param}: ${unknown.rule}` });
      continue;
    }
    const read = readPlace(fields);
    if (!read.ok) {
      const { param, message } = read.error;
      problems.push({ index, ...(param !== undefined && { param }), message });
      continue;
    }
    const id = placeRecordId(scope.project, scope.environment, read.value.placeId);
    if (inputs.has(id))
      problems.push({ index, param: '_id', message: '_id: names an earlier place of this request too' });
    else inputs.set(id, read.value);
  }
  return { inputs, problems };
}

const isUnchanged = (one: PlaceRecord, other: PlaceRecord): boolean =>
  isDeepStrictEqual({ ...one, updatedAt: 0 }, { ...other, updatedAt: 0 });

/**
 * Writes the places. Throws `edit_conflict` if other edits of the same places keep coming first, and the error of
 * `confirmAuthority`.
 */
export async function writePlaces(
  { configuration, writer, confirmAuthority }: Pick<ApiDependencies, 'configuration' | 'writer'> & EditAuthority,
  scope: Scope,
  items: readonly unknown[],
): Promise<CatalogueResult> {
  const { inputs, problems } = readAll(scope, items);
  const result: CatalogueResult = { created: 0, updated: 0, unchanged: 0, problems };
  for (let attempt = 1; inputs.size > 0; attempt++) {
    if (attempt > maxAttempts)
      throw new ApiError('edit_conflict', 'other edits of these places keep coming first; try again');
    await catchUpWithAuthority({ writer, confirmAuthority });
    const planned = [...inputs].flatMap(([id, input]) => {
      const existing = configuration.places.find(scope, id);
      const record = placeRecord(scope, input, existing, writer.nextTimestamp());
      if (existing === undefined || !isUnchanged(existing, record))
        return [{ isNew: existing === undefined, change: { kind: 'place' as const, id, record } }];
      result.unchanged++;
      inputs.delete(id);
      return [];
    });
    if (planned.length === 0) break;
    const bases = (id: string) => configuration.bases('place', id);
    const outcomes = await writer.write(planned.map(({ change }) => ({ ...change, bases: bases(change.id) })));
    for (const [index, { isNew, change }] of planned.entries()) {
      if (outcomes[index]?.kind !== 'applied') continue;
      inputs.delete(change.id);
      if (isNew) result.created++;
      else result.updated++;
    }
  }
  return result;
}
