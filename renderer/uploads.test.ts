/** Uploaded styles, from a file to the picture. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Compression } from 'pmtiles';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createMapRenderer, type MapRenderer } from './map.js';
import { pmtilesBytes } from './testing/archives.js';
import { pictureOf } from './testing/pictures.js';
import { exampleRequest } from './testing/requests.js';
import { rectangle, tileBytes } from './testing/tiles.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-uploads-'));
let renderer: MapRenderer;

beforeAll(async () => {
  const sea = tileBytes({ water: [{ type: 'polygon', parts: [rectangle(-100, -100, 4_200, 4_200)] }] });
  const metadata = { vector_layers: [{ id: 'water' }, { id: 'transportation' }] };
  const archive = join(folder, 'sea.pmtiles');
  writeFileSync(archive, pmtilesBytes([{ zoom: 0, x: 0, y: 0, bytes: sea }], metadata, Compression.Gzip));
  renderer = await createMapRenderer({ archive, cacheFolder: folder });
});
afterAll(async () => {
  await renderer.close();
  rmSync(folder, { recursive: true });
});

const request = (style: string) => exampleRequest({ style, width: 300, height: 200 });

/** The sea in a colour, from a source of any name. */
const styleIn = (color: string) =>
  Buffer.from(
    JSON.stringify({
      version: 8,
      sources: { 'somewhere else': { type: 'vector', url: 'https://tiles.example' } },
      layers: [
        { id: 'sea', type: 'fill', source: 'somewhere else', 'source-layer': 'water', paint: { 'fill-color': color } },
        { id: 'roads', type: 'line', source: 'somewhere else', 'source-layer': 'rails' },
      ],
    }),
  );

test('each version of an uploaded style is drawn from the archive', async () => {
  const colors = [];
  for (const [name, style] of [
    ['a@1', styleIn('#ff0000')],
    ['a@2', styleIn('#00ff00')],
    ['a@1', styleIn('#ff0000')],
  ] as const) {
    expect(renderer.checkStyle(style)).toMatchObject({
      ok: true,
      value: [{ layer: 'roads', property: 'source-layer' }],
    });
    colors.push((await pictureOf((await renderer.render(request(name), new Map(), style)).bytes)).at(10, 10));
  }
  expect(colors).toEqual(['#ff0000', '#00ff00', '#ff0000']);
});

test('a style that is not built in must be provided', async () => {
  await expect(renderer.render(request('b@1'))).rejects.toMatchObject({ code: 'invalid_parameter', param: 'style' });
});
