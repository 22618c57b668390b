/** Reads the fields of rows that are JSON: objects of fields, and GeoJSON features. */
import { featureFields, type ReadFeature } from '../../api/feature-fields.js';
import { parseWritableJson } from '../../http/fields/json-text.js';
import type { RawFields } from '../../http/fields/reader.js';
import { malformedTextIn, wellFormedRule } from '../../http/fields/text.js';
import { isDictionary } from '../../http/fields/values.js';
import { brokenByte, type RowProblem, type SourceRow, utf8Rule } from '../source.js';

type Content = SourceRow['content'];

const problem = (column: string, rule: string): { problem: RowProblem } => ({ problem: { column, rule } });

/** Rows that are parsed at once: to find the fault of one takes ten microseconds and more. */
const parsedAtOnce = 500;

/** Yields the items in parts that are parsed at once, with the index of the first: an empty part if there are none. */
export function* partsOf<Item>(items: readonly Item[]): Generator<{ readonly from: number; readonly part: Item[] }> {
  for (let from = 0; from === 0 || from < items.length; from += parsedAtOnce)
    yield { from, part: items.slice(from, from + parsedAtOnce) };
}

/** How the objects of a resource are read. */
export interface ObjectRules {
  /** Returns a field that the resource does not have. */
  readonly findUnknown: (fields: RawFields) => RowProblem | undefined;
  /** Default: {@link featureFields}. */
  readonly readFeature?: ReadFeature;
}

function featureContent(feature: Readonly<Record<string, unknown>>, readFeature: ReadFeature): Content {
  const read = readFeature(feature);
  return read.ok ? { fields: read.value } : problem(read.problem.param, read.problem.rule);
}

/** Reads one object: a GeoJSON feature, whose properties are the fields, or, where allowed, the fields themselves. */
export function objectContent(text: string, rules: ObjectRules, isFeature = false): Content {
  const { findUnknown, readFeature = featureFields } = rules;
  if (text.includes(brokenByte)) return problem('row', utf8Rule);
  const parsed = parseWritableJson(text);
  if (!parsed.ok) return problem('row', `must be JSON: ${parsed.fault}`);
  const { value } = parsed;
  if (!isDictionary(value)) return problem('row', 'must be a JSON object');
  if (isFeature && value.type !== 'Feature') return problem('type', 'must be Feature');
  const malformed = malformedTextIn(value);
  if (malformed !== undefined) return problem(malformed, wellFormedRule);
  const content = value.type === 'Feature' ? featureContent(value, readFeature) : { fields: value };
  if ('problem' in content) return content;
  const unknown = findUnknown(content.fields);
  return unknown === undefined ? content : { problem: unknown, fields: content.fields };
}
