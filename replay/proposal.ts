/**
 * Reads a file of proposed geofences: a JSON array, lines of JSON or of GeoJSON features, or a FeatureCollection. Pure.
 *
 * Input: the text. Output: the geofences in normal form, and the problems of invalid ones. Fields and rules are those
 * of `POST /v1/geofences`. The properties of a Feature are the fields; its geometry defines type and coordinates.
 */
import { featureFields } from '../api/feature-fields.js';
import { type GeofenceInput, readPlainGeofence } from '../api/geofences/fields.js';
import type { Outcome, RawFields } from '../http/fields/reader.js';
import { isDictionary } from '../http/fields/values.js';
import { ApiError } from '../schemas/errors.js';

interface ProposalProblem {
  /** `line 3`, `entry 3` or `feature 3`, counted from 1, or `file`. */
  readonly where: string;
  /** The field and its rule, such as `radius: must be a number from 10 to 10000 metres`. */
  readonly message: string;
}

interface Proposal {
  readonly geofences: readonly GeofenceInput[];
  readonly problems: readonly ProposalProblem[];
}

interface Entry {
  readonly where: string;
  readonly fields: Outcome<RawFields>;
}

/** Reads a file. Each pair of tag and external id may occur only once. */
export function readProposal(text: string): Proposal {
  const geofences: GeofenceInput[] = [];
  const problems: ProposalProblem[] = [];
  const places = new Map<string, string>();
  for (const { where, fields } of entriesOf(text)) {
    const read = fields.ok ? readPlainGeofence(fields.value) : fields;
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

/** Parses the text as one document, or else line by line. */
function entriesOf(text: string): Entry[] {
  const document = parsed(text);
  if (document.ok) return entriesOfDocument(document.value);
  const lines = text
    .split('\n')
    .map((line, index) => ({ where: `line ${index + 1}`, line }))
    .filter(({ line }) => line.trim() !== '');
  // If the first line is not JSON, the text is an invalid document. Report one problem, not one per line.
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

function fieldsOf(value: unknown): Outcome<RawFields> {
  if (isDictionary(value) && value.type === 'Feature') return fieldsOfFeature(value);
  return isDictionary(value) ? { ok: true, value } : refused('must be a JSON object');
}

function fieldsOfFeature(feature: unknown): Outcome<RawFields> {
  if (!isDictionary(feature)) return refused('must be a JSON object');
  const read = featureFields(feature);
  return read.ok ? read : refused(`${read.problem.param}: ${read.problem.rule}`);
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
