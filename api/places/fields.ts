/** The fields of a place: the one table, for the API and for catalogues. Pure. */
import Type from 'typebox';
import { FieldReader, maxNameLength, maxTextLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { readPosition } from '../../http/fields/structures.js';
import { field, readTable, required, textField } from '../../http/fields/table.js';
import { isDictionary, textOf } from '../../http/fields/values.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import { normalizeRing } from '../../pipeline/geometry/ring.js';
import { deriveId, placeRecordId } from '../../schemas/ids.js';
import { Point, Polygon } from '../../schemas/json/common.js';
import { maxPlaceCategories, PlaceChain, type PlaceRecord } from '../../schemas/json/place.js';
import { mergedFields } from '../merge-patch.js';
import { jsonText, metadataField } from '../paired/fields.js';
import type { ExportedFields, FieldValue } from '../stored-fields.js';

/** What an owner says about a place. The record adds identity and times. */
export type PlaceInput = Omit<PlaceRecord, '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt'>;

type Geometry = Pick<PlaceRecord, 'center' | 'ring' | 'radius'>;

/** The fields of a place in requests. */
export const placeFields = {
  _id: required(textField({}, 'Names the place in the catalogue and in `placeId` of geofences')),
  name: required(textField({ maxLength: maxTextLength })),
  geometry: required(
    field(readGeometry, Type.Union([Point, Polygon, jsonText]), {
      description: 'GeoJSON: a point, or a polygon of one ring of 4 to 2,000 coordinates',
    }),
  ),
  categories: field(readCategories, Type.Union([Type.Array(Type.String()), Type.String()]), {
    description: `At most ${maxPlaceCategories}; a list, or comma-separated`,
  }),
  chain: field(readChain, Type.Union([PlaceChain, Type.String()]), {
    description: 'The brand: its slug, or slug and name',
  }),
  address: textField({ maxLength: maxTextLength }, 'In one line'),
  metadata: metadataField,
};

/**
 * Reads a place.
 * @param id the `_id` that the path names; it replaces that of the fields.
 */
export function readPlace(fields: RawFields, id?: string): Outcome<PlaceInput> {
  const reader = new FieldReader({ ...fields, ...(id !== undefined && { _id: id }) });
  const values = readTable(reader, placeFields);
  return reader.outcome(() => {
    const { center, ring, radius } = values.geometry;
    return {
      placeId: values._id,
      name: values.name,
      categories: values.categories,
      chain: values.chain,
      address: values.address,
      metadata: values.metadata,
      center,
      ring,
      radius,
      geometryHash: deriveId(JSON.stringify([center, ring])),
    };
  });
}

/** The fields of a stored place. Reading them gives the record again. */
const placeSources: Record<keyof typeof placeFields, (record: PlaceRecord) => FieldValue> = {
  _id: ({ placeId }) => placeId,
  name: ({ name }) => name,
  geometry: ({ center, ring }) =>
    ring === null ? { type: 'Point', coordinates: center } : { type: 'Polygon', coordinates: [ring] },
  categories: ({ categories }) => categories,
  chain: ({ chain }) => chain,
  address: ({ address }) => address,
  metadata: ({ metadata }) => metadata,
};

const storedPlace: ExportedFields<PlaceRecord> = {
  names: Object.keys(placeSources),
  values: (record) => Object.values(placeSources).map((source) => source(record)),
};

/** Reads what follows from a place and the fields of a PATCH. A geometry that is not named stays as it is. */
export function patchPlace(record: PlaceRecord, patch: RawFields): Outcome<PlaceInput> {
  const read = readPlace(mergedFields(storedPlace, record, patch), record.placeId);
  if (!read.ok || Object.hasOwn(patch, 'geometry')) return read;
  const { center, ring, radius, geometryHash } = record;
  return { ok: true, value: { ...read.value, center, ring, radius, geometryHash } };
}

/** Returns the whole record. Fields that the owner left out are cleared; the time of creation is kept. */
export const placeRecord = (
  { project, environment }: Scope,
  input: PlaceInput,
  existing: PlaceRecord | undefined,
  nowMs: number,
): PlaceRecord => ({
  _id: placeRecordId(project, environment, input.placeId),
  project,
  environment,
  createdAt: existing?.createdAt ?? nowMs,
  updatedAt: nowMs,
  ...input,
});

/** Errors name the field, whatever part of the geometry breaks its rule. */
function readGeometry(reader: FieldReader, name: string): Geometry | null {
  const given = reader.structure(name);
  if (given === undefined) return null;
  const { type, coordinates } = isDictionary(given) ? given : {};
  if (type === 'Point') {
    const center = readPosition(name, coordinates);
    return center.ok ? { center: center.value, ring: null, radius: null } : reader.refuse(name, center.problem.rule);
  }
  if (type !== 'Polygon') return reader.refuse(name, 'must be a GeoJSON Point or Polygon');
  const normal = normalizeRing(coordinates);
  if (!normal.ok) return reader.refuse(name, normal.problem.rule);
  const { centroid: center, ring, radiusM: radius } = normal.value;
  return { center, ring, radius };
}

function readCategories(reader: FieldReader, name: string): string[] {
  const given = (reader.list(name) ?? []).map((item) => textOf(item)?.trim());
  const categories = [...new Set(given)].filter((category) => category !== '');
  const isValid = (category: string | undefined): category is string =>
    category !== undefined && category.length <= maxNameLength && category.isWellFormed();
  if (categories.every(isValid) && categories.length <= maxPlaceCategories) return categories;
  reader.refuse(name, `must be at most ${maxPlaceCategories} texts of at most ${maxNameLength} characters`);
  return [];
}

function readChain(reader: FieldReader, name: string): PlaceChain | null {
  const given = reader.value(name);
  if (given === undefined) return null;
  const whole = isDictionary(given) || (typeof given === 'string' && given.trim().startsWith('{'));
  const parts = whole ? reader.structure(name) : { slug: textOf(given) };
  const { slug, name: title = slug } = isDictionary(parts) ? parts : {};
  const isText = (text: unknown): text is string =>
    typeof text === 'string' && text.trim() !== '' && text.length <= maxNameLength && text.isWellFormed();
  return isText(slug) && isText(title)
    ? { slug, name: title }
    : reader.refuse(name, 'must be a slug, or an object with slug and name');
}
