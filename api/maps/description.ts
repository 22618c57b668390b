/** Describes the parameters and responses of static maps for OpenAPI. docs/maps.md defines their meaning. */
import Type from 'typebox';
import { contentOf } from '../../http/describe.js';

const text = (description: string) => Type.Optional(Type.String({ description }));
const texts = (description: string) => Type.Optional(Type.Array(Type.String(), { description }));
const pixels = Type.Number({ minimum: 100, maximum: 2_048, description: 'CSS pixels; a fraction is rounded' });

/** The query parameters of GET /maps/static. */
export const mapParameters = Type.Object({
  width: pixels,
  height: pixels,
  center: text('`latitude,longitude`; required unless `markers`, `path`, `geofences` or `bbox` is given'),
  zoom: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 23,
      description:
        'Zoom, may be fractional; at 0 the world is 512 pixels wide. ' +
        'Required unless `markers`, `path`, `geofences` or `bbox` is given',
    }),
  ),
  scale: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 3,
      default: 1,
      description: 'Pixels of the image for each CSS pixel; the view stays the same',
    }),
  ),
  style: Type.Optional(
    Type.String({
      default: 'svc-default-v1',
      description: '`svc-default-v1`, `svc-light-v1`, `svc-dark-v1`, or the id of an uploaded style',
    }),
  ),
  language: Type.Optional(
    Type.String({
      default: 'en-US',
      description:
        'Of names: a two-letter ISO code, `local` for that of the device by its header Accept-Language, ' +
        'or `native` for names as they are written there',
    }),
  ),
  bbox: text('`min_latitude,min_longitude,max_latitude,max_longitude`: the image fits the box'),
  markers: texts(
    '`color:0x000257|size:small|icon:https://…|latitude,longitude|…`; may be repeated. `icon` may also be the id of an uploaded marker',
  ),
  path: texts(
    '`stroke:0x000257|width:3|border:white|borderWidth:2|latitude,longitude|…`, `enc:` or `enc6:` and a polyline, or a GeoJSON LineString; may be repeated',
  ),
  geofences: text('A tag: its enabled geofences are drawn. Needs a secret key'),
  format: Type.Optional(
    Type.Enum(['png', 'webp', 'jpg', 'jpeg'], {
      description: 'Without it the header Accept decides: WebP or JPEG where it names them and not PNG',
    }),
  ),
  publishableKey: text(
    'A publishable key of the project, in place of the header Authorization. Secret keys go into the header only',
  ),
});

const image = Type.String({ format: 'binary' });

/** The answer of a map: an image in the type that `Accept` or `format` selects. */
export const mapAnswer = contentOf({ 'image/png': image, 'image/webp': image, 'image/jpeg': image }, 'The image');

/** The empty answer 304. */
export const notModified = Type.Null({ description: 'The image is the one that If-None-Match names' });
