import sharp from 'sharp';
import { expect, test } from 'vitest';
import { bitmapped, plain, spriteOf } from '../testing/sprites.js';
import type { SpriteFile } from '../types.js';
import { noImages } from './sprite-images.js';
import { maxPicturePixels, problemsOfSprite, readSpriteIndex, SpriteStore } from './sprite-store.js';

const store = new SpriteStore();
const red = spriteOf({ other: plain('#00ff00', 4), red: bitmapped('#ff0000', '##.', '.#.') });

async function decode(...files: SpriteFile[]) {
  return store.decode({ files, missing: 0 });
}

test('images are cut out of the picture', async () => {
  const { images, missing } = await decode(red);
  expect([images.names, missing]).toEqual([['other', 'red'], 0]);
  const image = images.get('red')!;
  expect([image.width, image.height]).toEqual([3, 2]);
  const opaque = [255, 0, 0, 255];
  const nothing = [0, 0, 0, 0];
  expect([...image.bitmap().data]).toEqual([opaque, opaque, nothing, nothing, opaque, nothing].flat());
});

test('images of double density have half the size in CSS pixels', async () => {
  const { images } = await decode(spriteOf({ red: plain('#ff0000', 5, 3) }, 2));
  const image = images.get('red')!;
  expect([image.width, image.height, image.bitmap().width]).toEqual([5, 3, 10]);
});

test('several sprites are distinguished by their ids', async () => {
  const { images } = await decode(red, { ...red, id: 'mine' });
  expect(images.names).toEqual(['other', 'red', 'mine:other', 'mine:red']);
});

test('equal files are decoded once', async () => {
  const [one, again] = [await decode(red), await decode({ ...red })];
  expect(again.images).toBe(one.images);
  expect((await decode({ ...red, id: 'x' })).images.key).not.toBe(one.images.key);
  expect((await store.decode({ files: [], missing: 2 })).images).toBe(noImages);
});

const noise = async (width: number, height: number): Promise<Uint8Array> =>
  sharp({ create: { width, height, channels: 4, background: '#000' } })
    .png()
    .toBuffer();

test('an unreadable sprite is counted, and others are kept', async () => {
  const broken: SpriteFile[] = [
    { ...red, index: Buffer.from('{') },
    { ...red, image: Buffer.from('GIF89a') },
    { ...red, image: red.image.subarray(0, 60) },
    { ...red, image: await sharp(red.image).webp().toBuffer() },
    { ...red, image: await noise(4_001, maxPicturePixels / 4_000) },
  ];
  for (const file of broken) {
    const { images, missing } = await decode(file, red);
    expect([images.names, missing]).toEqual([['other', 'red'], 1]);
  }
  expect((await store.decode({ files: broken, missing: 1 })).missing).toBe(broken.length + 1);
});

test('its problem is reported', async () => {
  expect(problemsOfSprite(readSpriteIndex(red))).toEqual([]);
  const index = Buffer.from(JSON.stringify({ a: { x: 0 }, b: { x: 0, y: 0, width: 1, height: 1 } }));
  expect(problemsOfSprite(readSpriteIndex({ ...red, index })).map(({ param }) => param)).toEqual(['a.y']);
  expect(problemsOfSprite(readSpriteIndex({ ...red, image: Buffer.from('x') }))).toMatchObject([
    { param: '', rule: expect.stringContaining('PNG') },
  ]);
});
