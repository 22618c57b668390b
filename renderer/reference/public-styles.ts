/** Public styles from packages, two for each schema. Their sprites are not packaged: icons and patterns are not drawn. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import { layers, namedFlavor } from '@protomaps/basemaps';
import { osm } from '@versatiles/style';
import { omt } from '@versatiles/style/omt';
import type { ReferenceArchive } from './view.js';

interface PublicStyle {
  readonly style: StyleSpecification;
  /** Archive of the style's schema. */
  readonly archive: ReferenceArchive;
}

/** MapTiler Basic. */
const basicFile = createRequire(import.meta.url).resolve('tileserver-gl-styles/styles/basic-preview/style.json');

function protomaps(flavor: string): StyleSpecification {
  return {
    version: 8,
    sources: { protomaps: { type: 'vector', url: 'https://tiles.example.com/protomaps.json' } },
    layers: layers('protomaps', namedFlavor(flavor), { lang: 'en' }),
  };
}

const openMapTiles = (style: StyleSpecification): PublicStyle => ({ style, archive: 'san-francisco' });
const protomaps4 = (style: StyleSpecification): PublicStyle => ({ style, archive: 'san-francisco-protomaps' });
const shortbread = (style: StyleSpecification): PublicStyle => ({ style, archive: 'san-francisco-shortbread' });

/** The styles by name. */
export const publicStyles: Readonly<Record<string, PublicStyle>> = {
  basic: openMapTiles(JSON.parse(readFileSync(basicFile, 'utf8')) as StyleSpecification),
  'versatiles-omt': openMapTiles(omt({ theme: 'natural', text: { language: 'en' } })),
  'protomaps-light': protomaps4(protomaps('light')),
  'protomaps-dark': protomaps4(protomaps('dark')),
  'versatiles-colorful': shortbread(osm({ theme: 'colorful', text: { language: 'en' } })),
  'versatiles-dark': shortbread(osm({ theme: 'gray-dark', text: { language: 'en' } })),
};
