/** `fenceline places import`: sends a catalogue of places to a running Fenceline, in batches. */
import { createReadStream, statSync } from 'node:fs';
import { featureFields, type ReadFeature } from '../../api/feature-fields.js';
import type { CatalogueResult } from '../../api/places/catalogue.js';
import { placeFields } from '../../api/places/fields.js';
import type { RawFields } from '../../http/fields/reader.js';
import { unknownField } from '../../http/fields/table.js';
import { isDictionary } from '../../http/fields/values.js';
import { geojsonRows } from '../../imports/formats/geojson.js';
import { ndjsonRows } from '../../imports/formats/ndjson.js';
import { BrokenSource, type RowProblem, type SourceRow } from '../../imports/source.js';
import { formatOfName } from '../../schemas/import-formats.js';
import { printable } from '../../server/terminal-text.js';
import { CommandFailure, type Run, UsageError } from '../command.js';
import type { OptionsOf } from '../descriptions.js';
import { type ProgressLine, progressLine } from '../progress.js';
import { type Access, accessOf, call } from '../server.js';

/** Places of one request, and about how many characters they may have together. */
const batchPlaces = 500;
const batchCharacters = 4_000_000;
/** Of one batch, while the server is busy. A repetition changes nothing. */
const maxRetries = 20;
/** Problems that are printed; the rest are counted. */
const maxShown = 100;

/** Sends a catalogue of places to a server in batches. Exits with 1 if places were refused. */
export const run: Run<OptionsOf<'places'>> = async (values, [action, file, ...rest]) => {
  if (action !== 'import' || file === undefined || rest.length > 0) throw new UsageError('places requires import FILE');
  const format = formatOfName(file);
  if (format !== 'geojson' && format !== 'ndjson') throw new UsageError(`${file} must be a .geojson or .ndjson file`);
  const access = await accessOf(values);
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw new CommandFailure(`there is no file ${file}`);
  const line = progressLine(process.stderr);
  const total = await send(rowsOf(file, format), access, line).finally(line.end);
  console.log(summaryOf(total));
  if (total.refused > 0)
    throw new CommandFailure(`${total.refused} places were refused; correct them and import again`);
};

interface Total {
  created: number;
  updated: number;
  unchanged: number;
  refused: number;
}

const countsOf = ({ created, updated, unchanged }: Total): string[] => [
  `${created} created`,
  `${updated} updated`,
  `${unchanged} unchanged`,
];

/** Returns the line that says what an import of places did. */
function summaryOf(total: Total): string {
  const { created, updated, unchanged } = total;
  const counts = countsOf(total).join(', ');
  return created + updated === 0 && unchanged > 0 ? `Nothing changed: ${counts}` : counts;
}

/** The fields that a Feature's geometry becomes in `imports`, beside those of a place. */
const known = { ...placeFields, type: placeFields.name, coordinates: placeFields.name };

function findUnknown(fields: RawFields): RowProblem | undefined {
  const unknown = unknownField(known, fields);
  return unknown && { column: unknown.param, rule: unknown.rule };
}

/** Returns the fields of a Feature of the catalogue. Its id names the place, as over the API. */
const readFeature: ReadFeature = (feature) => {
  const read = featureFields(feature);
  const { id, properties } = feature;
  const _id = id ?? (isDictionary(properties) ? properties.id : undefined);
  return read.ok && _id !== undefined ? { ok: true, value: { _id, ...read.value } } : read;
};

async function* rowsOf(file: string, format: 'geojson' | 'ndjson'): AsyncGenerator<SourceRow> {
  const source = createReadStream(file);
  const rowsIn = format === 'ndjson' ? ndjsonRows : geojsonRows;
  try {
    for await (const { rows } of rowsIn(source, { findUnknown, readFeature })) yield* rows;
  } catch (error) {
    if (error instanceof BrokenSource) throw new CommandFailure(`${file}: ${error.message}`);
    throw error;
  } finally {
    source.destroy();
  }
}

/** Returns the place as the API takes it: the geometry of a Feature was read as coordinates. */
function placeOf({ type, coordinates, ...fields }: RawFields): RawFields {
  if (coordinates === undefined) return fields;
  const geometry =
    type === 'polygon' ? { type: 'Polygon', coordinates: [coordinates] } : { type: 'Point', coordinates };
  return { ...fields, geometry };
}

async function send(rows: AsyncIterable<SourceRow>, access: Access, progress: ProgressLine): Promise<Total> {
  const total: Total = { created: 0, updated: 0, unchanged: 0, refused: 0 };
  let lines: number[] = [];
  let places: RawFields[] = [];
  let characters = 0;

  function refuse(line: number, message: string): void {
    total.refused += 1;
    if (total.refused <= maxShown + 1) progress.end();
    if (total.refused <= maxShown) console.error(printable(`${line}: ${message}`));
    if (total.refused === maxShown + 1) console.error('Further places with problems are only counted.');
  }

  async function flush(): Promise<void> {
    if (lines.length === 0) return;
    const { created, updated, unchanged, problems } = await call<CatalogueResult>(access, 'POST', '/v1/places/batch', {
      json: { places },
      maxRetries,
    });
    total.created += created;
    total.updated += updated;
    total.unchanged += unchanged;
    for (const { index, message } of problems) refuse(lines[index]!, message);
    [lines, places, characters] = [[], [], 0];
    progress.show({ parts: countsOf(total) });
  }

  for await (const { line, content } of rows) {
    if ('problem' in content) {
      refuse(line, `${content.problem.column}: ${content.problem.rule}`);
      continue;
    }
    const place = placeOf(content.fields);
    lines.push(line);
    places.push(place);
    characters += JSON.stringify(place).length;
    if (lines.length === batchPlaces || characters > batchCharacters) await flush();
  }
  await flush();
  return total;
}
