/**
 * A file of proposed geofences: a JSON array, lines of JSON, or a GeoJSON FeatureCollection of geofences as `POST
 * /v1/geofences` takes them. Pure.
 *
 * Flows in: the text. Flows out: the geofences in normal form, and what is wrong with each of the others. Fields and
 * rules are those of the
 * API; of a Feature the properties are the fields, and the geometry says type and coordinates.
 */

import { type GeofenceInput, readGeofence } from '../api/geofences/fields.js';
import type { Outcome, RawFields } from '../http/fields/reader.js';
import { isDictionary } from '../http/fields/values.js';
import { ApiError } from '../schemas/errors.js';

export interface ProposalProblem {
  /** `line 3`, `entry 3` or `feature 3`, counted from 1; `file` for all of it. */
  readonly where: string;
  /** The field and its rule, as in `radius: must be a number from 10 to 10000 metres`. */
  readonly message: string;
}

export interface Proposal {
  readonly geofences: readonly GeofenceInput[];
  readonly problems: readonly ProposalProblem[];
}

interface Entry {
  readonly where: string;
  readonly fields: Outcome<RawFields>;
}

/** Every pair may be there once. */
export function readProposal(text: string): Proposal {
  const geofences: GeofenceInput[] = [];
  const problems: ProposalProblem[] = [];
  const places = new Map<string, string>();
  for (const { where, fields } of entriesOf(text)) {
    const read = fields.ok ? readGeofence(fields.value) : fields;
    if (!read.ok) {
      problems.push({ where, message: read.error.message });
      continue;
    }
    const { tag, externalId } = read.value;
    const pair = JSON.stringify([tag, externalId]);
    const place = places.get(pair);
    if (place === undefined) geofences.push(read.value);
    else problems.push({ where, message: `externalId: ${place} has the pair ${tag}/${externalId} already` });
    places.set(pair, place ?? where);
  }
  return { geofences, problems };
}

/** A document as a whole, else one line after another. */
function entriesOf(text: string): Entry[] {
  const document = parsed(text);
  if (document.ok) return entriesOfDocument(document.value);
  const lines = text
    .split('\n')
    .map((line, index) => ({ where: `line ${index + 1}`, line }))
    .filter(({ line }) => line.trim() !== '');
  // What doesn't begin with a line of JSON is a broken document: its every line would be complained of.
  if (lines.length === 0 || !parsed(lines[0]!.line).ok) return [{ where: 'file', fields: document }];
  return lines.map(({ where, line }) => {
    const value = parsed(line);
    return { where, fields: value.ok ? fieldsOf(value.value) : value };
  });
}

function entriesOfDocument(document: unknown): Entry[] {
  if (Array.isArray(document)) return numbered('entry', document, fieldsOf);
  if (!isDictionary(document) || document.type !== 'FeatureCollection') return numbered('entry', [document], fieldsOf);
  const { features } = document;
  if (!Array.isArray(features)) return [{ where: 'file', fields: refused('features: must be a list') }];
  return numbered('feature', features, fieldsOfFeature);
}

const numbered = (word: string, values: readonly unknown[], read: (value: unknown) => Outcome<RawFields>): Entry[] =>
  values.map((value, index) => ({ where: `${word} ${index + 1}`, fields: read(value) }));

const fieldsOf = (value: unknown): Outcome<RawFields> =>
  isDictionary(value) ? { ok: true, value } : refused('must be a JSON object');

const typeOfGeometry = new Map<unknown, string>([
  ['Point', 'circle'],
  ['Polygon', 'polygon'],
]);

/** The API's own export of a circle has a Polygon for a picture of it: taken at its word, it would be another fence. */
function fieldsOfFeature(feature: unknown): Outcome<RawFields> {
  if (!isDictionary(feature) || !isDictionary(feature.geometry)) return refused('geometry: is required');
  const { type: geometryType, coordinates } = feature.geometry;
  const type = typeOfGeometry.get(geometryType);
  if (type === undefined) return refused('geometry: must be a Point or a Polygon');
  const properties = isDictionary(feature.properties) ? feature.properties : {};
  if ((properties.type ?? type) !== type) return refused(`type: must be ${type}, as the geometry is a ${geometryType}`);
  return { ok: true, value: { ...properties, type, coordinates } };
}

const refused = (message: string): { ok: false; error: ApiError } => ({
  ok: false,
  error: new ApiError('invalid_body', message),
});

function parsed(text: string): Outcome<unknown> {
  try {
    return { ok: true, value: JSON.parse(text) };
  } catch (error) {
    return refused(`is not JSON: ${(error as Error).message}`);
  }
}
