/** Reads a marker's image from a request: the image as the body with its name in the query, or both as JSON. Pure. */

import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { maxMarkerBytes } from '../../schemas/json/map.js';
import { bodyFields } from '../describe.js';

/** The uploaded properties of a marker. */
export interface MarkerInput {
  readonly name: string | null;
  readonly image: Buffer;
}

const base64 = /^[A-Za-z0-9+/]+={0,2}$/;
/** Size of the body with the largest allowed image. */
const maxBase64Length = Math.ceil(maxMarkerBytes / 3) * 4;

export function readMarker(body: unknown, query: RawFields): Outcome<MarkerInput> {
  const fields: RawFields = Buffer.isBuffer(body) ? {} : bodyFields(body);
  const reader = new FieldReader(Buffer.isBuffer(body) ? query : fields);
  const unknown = Object.keys(fields).find((name) => name !== 'name' && name !== 'image');
  if (unknown !== undefined) reader.refuse(unknown, 'is not a known field');
  const name = reader.text('name');
  const image = Buffer.isBuffer(body) ? body : readBase64(reader);
  if (image.length > maxMarkerBytes) reader.refuse('image', `must have at most ${maxMarkerBytes} bytes`);
  return reader.outcome(() => ({ name, image }));
}

function readBase64(reader: FieldReader): Buffer {
  const text = reader.value('image');
  if (typeof text === 'string' && text.length > maxBase64Length) {
    reader.refuse('image', `must have at most ${maxMarkerBytes} bytes`);
  } else if (text === undefined) reader.refuse('image', 'is required');
  else if (typeof text !== 'string' || !base64.test(text)) reader.refuse('image', 'must be base64');
  else return Buffer.from(text, 'base64');
  return Buffer.alloc(0);
}
