/** Reads a marker's image from a request: the image as the body with its name in the query, or both as JSON. Pure. */
import Type from 'typebox';
import { bodyFields } from '../../http/describe.js';
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { field, readChange, refuseUnknown, required, textField } from '../../http/fields/table.js';
import { MapMarker, maxMarkerBytes } from '../../schemas/json/map.js';
import { limitText } from '../../schemas/wording.js';

/** The uploaded properties of a marker. */
interface MarkerInput {
  readonly name: string | null;
  readonly image: Buffer;
}

const tooLarge = `must have at most ${limitText(maxMarkerBytes)}`;
const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Size of the body with the largest allowed image. */
const maxBase64Length = Math.ceil(maxMarkerBytes / 3) * 4;

/** The fields of an uploaded marker. Whether the image can be drawn is checked in a process of the renderer. */
export const mapMarkerFields = {
  name: textField(),
  image: required(
    field(readBase64, Type.String({ contentEncoding: 'base64' }), { description: 'PNG or SVG, in base64' }),
  ),
};

/** Reads a new marker. Where the body is the image, the query has its name. */
export function readMarker(body: unknown, query: RawFields): Outcome<MarkerInput> {
  if (Buffer.isBuffer(body)) {
    const reader = new FieldReader(query);
    const name = reader.text('name');
    if (body.length > maxMarkerBytes) reader.refuse('image', tooLarge);
    return reader.outcome(() => ({ name, image: body }));
  }
  return readChangedMarker(undefined, bodyFields(body));
}

/** Reads a change of a marker, or a new one as JSON. Fields that are left out stay. */
export function readChangedMarker(current: MarkerInput | undefined, fields: RawFields): Outcome<MarkerInput> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, mapMarkerFields, fields, Object.keys(MapMarker.properties));
  const input = readChange(reader, mapMarkerFields, fields, current);
  return reader.outcome(() => input);
}

function readBase64(reader: FieldReader, name: string): Buffer | null {
  const text = reader.value(name);
  if (text === undefined) return null;
  if (typeof text === 'string' && text.length > maxBase64Length) return reader.refuse(name, tooLarge);
  if (typeof text !== 'string' || !base64.test(text)) return reader.refuse(name, 'must be base64');
  const image = Buffer.from(text, 'base64');
  return image.length > maxMarkerBytes ? reader.refuse(name, tooLarge) : image;
}
