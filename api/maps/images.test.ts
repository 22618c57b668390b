import { describe, expect, test } from 'vitest';
import { Overdue } from '../../renderer/pool/failed-job.js';
import { readMapQuery } from '../../renderer/request/request.js';
import type { MapRequest } from '../../renderer/types.js';
import type { TimedMap } from '../dependencies.js';
import { completeMap } from '../testing/fixtures.js';
import { type Drawing, FinishedFiles, Images } from './images.js';

function requestOf(query: Readonly<Record<string, string>>): MapRequest {
  const read = readMapQuery({ width: '100', height: '100', center: '1,2', zoom: '3', ...query });
  if (!read.ok) throw new Error(read.problem.rule);
  return { ...read.value.request, fences: [] };
}
const request = requestOf({});

/** Images of which each is drawn by a call of `finish` or `fail`, in the order in which they were asked for. */
function openImages() {
  const drawing: { readonly project: string; finish(map?: Partial<TimedMap>): void; fail(error: Error): void }[] = [];
  const render = (project: string): Promise<TimedMap> =>
    new Promise((resolve, reject) => {
      const bytes = Buffer.from(`of ${project}`);
      drawing.push({
        project,
        finish: (map) => resolve({ ...completeMap, processorMs: 1, bytes, ...map }),
        fail: reject,
      });
    });
  const images = new Images(render, new FinishedFiles(10_000));
  const drawingOf = (project: string): Drawing => ({
    project,
    uploads: () => ({ icons: new Map(), style: null }),
    onDrawn: () => {},
    onNeverBegun: () => {},
  });
  const get = async (project: string) => `${Buffer.from((await images.get(request, drawingOf(project))).bytes)}`;
  return { drawing, get };
}

describe('equal maps', () => {
  test('of one project at the same time are drawn once', async () => {
    const { drawing, get } = openImages();
    const answers = [get('a'), get('a')];
    drawing[0]!.finish();
    expect(await Promise.all(answers)).toEqual(['of a', 'of a']);
    expect(drawing).toHaveLength(1);
  });

  test('of any project are drawn once, one after the other', async () => {
    const { drawing, get } = openImages();
    const first = get('a');
    drawing[0]!.finish();
    expect([await first, await get('b')]).toEqual(['of a', 'of a']);
    expect(drawing).toHaveLength(1);
  });

  // The second project got the answer of the first, whose maps waited in its own queue.
  test('regression: of several projects at the same time fail alone', async () => {
    const { drawing, get } = openImages();
    const overdue = get('a');
    const other = get('b');
    drawing[0]!.fail(new Overdue('maps', 1_000));
    await expect(overdue).rejects.toThrow(Overdue);
    drawing[1]!.finish();
    expect(await other).toBe('of b');
  });

  // Parts may be missing because the project has used up its share of downloads.
  test.each([{ missingIcons: 1 }, { missingTiles: 1 }])(
    'regression: with %j are kept for their project',
    async (map) => {
      const { drawing, get } = openImages();
      const first = get('a');
      drawing[0]!.finish(map);
      expect([await first, await get('a')]).toEqual(['of a', 'of a']);
      const other = get('b');
      drawing[1]!.finish();
      expect([await other, await get('b'), await get('c')]).toEqual(['of b', 'of b', 'of b']);
      expect(drawing).toHaveLength(2);
    },
  );
});

// A node ended its start with a stack when maps.maxCacheBytes was no multiple of 16, of which styles get one part.
test.each([0, 0.4, 1_000.5, 2 ** 50])('a cache may have %s bytes', async (maxBytes) => {
  const make = async () => ({ bytes: Buffer.from('map'), contentType: 'image/png', maxAgeS: 1 });
  const { bytes } = await new FinishedFiles(maxBytes).get('project', 'key', make);
  expect(`${bytes}`).toBe('map');
});
