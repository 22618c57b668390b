import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PixelBox } from '../../types.js';
import { BoxGrid } from './box-grid.js';

const touch = (a: PixelBox, b: PixelBox): boolean =>
  a.minX <= b.maxX && b.minX <= a.maxX && a.minY <= b.maxY && b.minY <= a.maxY;

/** Also boxes outside the image, and such that share edges and corners. */
const box = fc
  .record({
    x: fc.integer({ min: -60, max: 330 }),
    y: fc.integer({ min: -60, max: 230 }),
    width: fc.integer({ min: 0, max: 120 }),
    height: fc.integer({ min: 0, max: 120 }),
  })
  .map(({ x, y, width, height }): PixelBox => ({ minX: x, minY: y, maxX: x + width, maxY: y + height }));

test('a grid finds the boxes that a comparison with each box finds, also after removals', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(box, fc.boolean()), { maxLength: 30 }), box, (inserted, wanted) => {
      const grid = new BoxGrid<PixelBox>({ width: 300, height: 200 });
      for (const [each] of inserted) grid.insert(each);
      for (const [each, isRemoved] of inserted) if (isRemoved) grid.remove(each);
      const left = inserted.filter(([, isRemoved]) => !isRemoved).map(([each]) => each);
      const found = new Set<PixelBox>();
      grid.some(wanted, (each) => {
        found.add(each);
        return false;
      });
      const expected = left.filter((each) => touch(each, wanted));
      expect(found).toEqual(new Set(expected));
      expect(grid.collides(wanted)).toBe(expected.length > 0);
    }),
  );
});
