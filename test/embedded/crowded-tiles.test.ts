/** Tiles with more than can be drawn, through the pool of drawing processes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { createDrawingPool } from '../../renderer/pool/drawing-pool.js';
import { writeMbtiles } from '../../renderer/testing/archives.js';
import { exampleRequest } from '../../renderer/testing/requests.js';
import { type DrawnFeature, tileBytes, type Vertex } from '../../renderer/testing/tiles.js';
import { createRandom } from '../../schemas/random.js';

const random = createRandom(1);
const anywhere = (): Vertex => [random.integer(0, 4095), random.integer(0, 4095)];
const many = <Item>(count: number, make: (i: number) => Item): Item[] =>
  Array.from({ length: count }, (_, i) => make(i));
const randomLine = (count: number): DrawnFeature['parts'] => [many(count, anywhere)];

/** Each took a drawing process 7 to 40 seconds, and the boundary 2.5 GB. */
const crowded: Record<string, DrawnFeature[]> = {
  boundary: [{ type: 'line', parts: randomLine(1_000_000), tags: { admin_level: 2 } }],
  transportation: many(300_000, () => ({ type: 'line', parts: randomLine(2), tags: { class: 'motorway' } })),
  transportation_name: many(100_000, (i) => ({
    type: 'line',
    parts: [[anywhere(), anywhere()]],
    tags: { class: 'motorway', name: `Street ${i}` },
  })),
};

const maxPeakKb = 1_200 * 1_024;

/** Returns the most memory that a child of this process has had. */
function peakOfChildrenKb(): number {
  const peaks = readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid)) return [];
    try {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const isChild = /^PPid:\s+(\d+)/m.exec(status)?.[1] === `${process.pid}`;
      return isChild ? [Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1] ?? 0)] : [];
    } catch {
      return [];
    }
  });
  return Math.max(...peaks);
}

test.each(Object.keys(crowded))(
  'a crowded layer %s is drawn within bounds, and so are maps of others',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-crowded-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const archive = join(folder, 'crowded.mbtiles');
    const layers = ['boundary', 'transportation', 'transportation_name', 'place', 'water'].map((id) => ({ id }));
    const small: DrawnFeature = { type: 'line', parts: randomLine(10), tags: { class: 'motorway' } };
    writeMbtiles(
      archive,
      [
        { zoom: 14, x: 0, y: 0, bytes: tileBytes({ [name]: crowded[name]! }) },
        { zoom: 14, x: 8_192, y: 8_192, bytes: tileBytes({ transportation: [small] }) },
      ],
      { format: 'pbf', bounds: '-180,-85,180,85', json: JSON.stringify({ vector_layers: layers }) },
    );
    const problems: string[] = [];
    const pool = createDrawingPool({
      module: new URL('../../dist/renderer/pool/drawing-process.js', import.meta.url),
      start: { archive, cacheFolder: folder, userAgent: 'test' },
      // Guards against a hang. The layers that are cut show that the work is bounded.
      timeoutMs: 200_000,
      answerTimeoutMs: 250_000,
      startTimeoutMs: 200_000,
      maxProcesses: 1,
      maxPixelsInFlight: 100_000_000,
      onProblem: (problem) => problems.push(problem),
    });
    onTestFinished(() => pool.close());
    const draw = (owner: string, longitude: number, latitude: number) =>
      pool.draw(
        owner,
        exampleRequest({
          style: 'svc-default-v1',
          width: 512,
          height: 512,
          camera: { center: [longitude, latitude], zoom: 14, bbox: null },
        }),
        new Map(),
      );

    const drawn = await Promise.all([
      draw('a', -179.989, 85.0501),
      ...many(5, (i) => draw('b', 0.011, -0.011 - i / 10_000)),
    ]);
    expect(drawn.map(({ result }) => result.missingTiles)).toEqual(drawn.map(() => 0));
    expect(drawn[0]!.result.cutLayers).toEqual([name]);
    expect(problems).toEqual([`a tile has too much to draw in its layer "${name}": the last features are left out`]);
    expect(peakOfChildrenKb()).toBeLessThan(maxPeakKb);
  },
);
