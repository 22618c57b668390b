/**
 * Reads a style from a request's body: `{ name, style }`, or the style itself. Pure.
 *
 * Drawing processes validate it against the specification. This module checks the limits of what is stored.
 */
import Type from 'typebox';
import { isDeeper } from '../../http/fields/json-text.js';
import { FieldReader, maxNameLength, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { field, readChange, refuseUnknown, required, textField } from '../../http/fields/table.js';
import { isDictionary } from '../../http/fields/values.js';
import { MapStyle, maxStyleBytes, maxStyleDepth, maxStyleLayers } from '../../schemas/json/map.js';
import { limitText } from '../../schemas/wording.js';

/** A MapLibre style as parsed JSON. The renderer checks it. */
export type Style = Record<string, unknown>;

/** The uploaded properties of a style. */
export interface StyleInput {
  readonly name: string | null;
  readonly style: Style;
  /** Prefix of the style's fields in the body: `style.`, or empty. */
  readonly path: 'style.' | '';
}

/** The fields of an uploaded style. */
export const mapStyleFields = {
  name: textField({}, "Default: the style's own"),
  style: required(
    field(readGiven, Type.Record(Type.String(), Type.Unknown()), {
      description: 'A MapLibre style, version 8. It may also be the whole body',
    }),
  ),
};

/**
 * Reads a new style, or a change of one.
 * @param current the stored style; undefined for a new one. Fields that are left out stay. The default name is that of
 * the style.
 */
export function readStyle(current: Omit<StyleInput, 'path'> | undefined, body: RawFields): Outcome<StyleInput> {
  const isBare = Object.hasOwn(body, 'layers') && !Object.hasOwn(body, 'style');
  const fields = isBare ? { style: body } : body;
  const reader = new FieldReader(fields);
  refuseUnknown(reader, mapStyleFields, fields, Object.keys(MapStyle.properties));
  const { name, style } = readChange(reader, mapStyleFields, fields, current);
  return reader.outcome(() => ({ name: name ?? ownName(style), style, path: isBare ? '' : 'style.' }));
}

function readGiven(reader: FieldReader, name: string): Style | null {
  const style = reader.structure(name);
  if (style === undefined) return null;
  if (!isDictionary(style)) return reader.refuse(name, 'must be a MapLibre style');
  refuseTooLarge(reader, style);
  return style;
}

const ownName = ({ name }: Style): string | null =>
  typeof name === 'string' && name.length <= maxNameLength && name !== '' ? name : null;

function refuseTooLarge(reader: FieldReader, style: Style): void {
  // Checked first, because the style can only be serialized within this depth.
  if (isDeeper(style, maxStyleDepth)) reader.refuse('style', `must not nest deeper than ${maxStyleDepth} levels`);
  else if (Array.isArray(style.layers) && style.layers.length > maxStyleLayers) {
    reader.refuse('style', `must have at most ${maxStyleLayers} layers`);
  } else if (Buffer.byteLength(JSON.stringify(style)) > maxStyleBytes) {
    reader.refuse('style', `must have at most ${limitText(maxStyleBytes)} as compact JSON`);
  }
}
