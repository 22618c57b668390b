/**
 * The built-in styles: three palettes by five schemas.
 *
 * Input: a style's name and a schema. Output: a MapLibre style with one source, `map`, whose names are not localized
 * (see `language.ts`). Pure; imports only its folder and types.
 */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { TileSchema } from '../types.js';
import { borderLayers, buildingLayers } from './layers/built.js';
import { groundLayers } from './layers/ground.js';
import { labelLayers } from './layers/labels.js';
import { placeLayers } from './layers/places.js';
import { roadLayers } from './layers/roads.js';
import type { BuiltInStyle } from './names.js';
import { palettes } from './palettes/palettes.js';
import type { Schema } from './schema.js';
import { fencelineSchema } from './schemas/fenceline.js';
import { openMapTilesSchema } from './schemas/openmaptiles.js';
import { protomapsSchema } from './schemas/protomaps.js';
import { protomapsV3Schema } from './schemas/protomaps-v3.js';
import { shortbreadSchema } from './schemas/shortbread.js';

const schemas: Readonly<Record<TileSchema, Schema>> = {
  fenceline: fencelineSchema,
  openmaptiles: openMapTilesSchema,
  protomaps: protomapsSchema,
  'protomaps-v3': protomapsV3Schema,
  shortbread: shortbreadSchema,
};

/**
 * Returns the style for tiles of this schema, from source `map`. `isBesideStreets` tells whether the map shows them
 * beside tiles with streets.
 */
export function builtInStyle(name: BuiltInStyle, schemaName: TileSchema, isBesideStreets = false): StyleSpecification {
  const schema = schemas[schemaName];
  const palette = palettes[name];
  return {
    version: 8,
    name,
    sources: { map: { type: 'vector' } },
    layers: [
      ...groundLayers(schema, palette),
      ...buildingLayers(schema, palette),
      ...roadLayers(schema, palette),
      ...borderLayers(schema, palette),
      ...labelLayers(schema, palette),
      ...placeLayers(schema, palette, isBesideStreets),
    ],
  };
}
