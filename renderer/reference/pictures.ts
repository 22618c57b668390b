/**
 * Draws the maps of README and of `docs/maps.md`: `node dist/renderer/reference/pictures.js`, in the project's folder.
 *
 * A delivery in San Francisco: geofences of the depot, a district and the customer, the route, and three markers.
 */
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMapRenderer } from '../map.js';
import { readMapQuery } from '../request/request.js';
import type { FenceOverlay, Position } from '../types.js';
import { parsed, referenceFolder } from './draw.js';

const depot: Position = [-122.4005077, 37.7958741];
const customer: Position = [-122.3916518, 37.792];
const van: Position = [-122.3958251, 37.7911596];

/** Crossings along the route. */
const route: readonly Position[] = [
  depot,
  [-122.3997849, 37.7922611],
  [-122.3996112, 37.7913319],
  [-122.3991626, 37.7910505],
  [-122.3975766, 37.7897816],
  van,
  [-122.3942801, 37.7899232],
  customer,
];

const fences: readonly FenceOverlay[] = [
  { type: 'circle', center: depot, radiusM: 75 },
  { type: 'circle', center: customer, radiusM: 140 },
  {
    type: 'polygon',
    ring: [
      [-122.4031576, 37.7946763],
      [-122.4025983, 37.791909],
      [-122.3997849, 37.7922611],
      [-122.4003192, 37.7950155],
      [-122.4031576, 37.7946763],
    ],
  },
];

const written = (positions: readonly Position[]): string =>
  positions.map(([longitude, latitude]) => `${latitude},${longitude}`).join('|');

const overlays = (stroke: string) =>
  [
    `path=stroke:${stroke}|width:5|borderWidth:2|${written(route)}`,
    `markers=color:0x2DA44E|${written([depot])}`,
    `markers=color:0xE4002B|${written([customer])}`,
    `markers=color:${stroke}|size:small|${written([van])}`,
  ].join('&');

const pictures: Readonly<Record<string, string>> = {
  'map.webp': `width=880&height=480&scale=2&center=37.7928,-122.3975&zoom=15&${overlays('0x1F6FEB')}`,
  'map-light.webp': `width=430&height=320&scale=2&center=37.7928,-122.3966&zoom=14.35&style=svc-light-v1&${overlays('0x8250DF')}`,
  'map-dark.webp': `width=430&height=320&scale=2&center=37.7928,-122.3966&zoom=14.35&style=svc-dark-v1&${overlays('0xFFB000')}`,
};

const folder = 'docs/images';
const renderer = await createMapRenderer({
  archive: join(referenceFolder, 'archives', 'san-francisco-protomaps.pmtiles').replace('/dist/', '/'),
  cacheFolder: tmpdir(),
});
for (const [name, query] of Object.entries(pictures)) {
  const read = readMapQuery(parsed(`${query}&format=webp`));
  if (!read.ok) throw new TypeError(`${read.problem.param} ${read.problem.rule}`);
  const { bytes } = await renderer.render({ ...read.value.request, fences });
  writeFileSync(join(folder, name), bytes);
}
await renderer.close();
