import { describe, expect, test } from 'vitest';
import { boundsBoundary, isBounds, parsePoly, roadBoundary } from './boundary.js';

describe('a box', () => {
  const isInside = boundsBoundary([9, 47, 12, 49]);

  test.each([
    [10.5, 48, 500, true],
    [9.02, 48, 500, true],
    [9.005, 48, 500, false],
    [10.5, 48.994, 500, true],
    [10.5, 48.997, 500, false],
    [8.9, 48, 0, false],
    [10.5, 49.1, 0, false],
  ])('holds %d, %d with %d m to spare: %s', (x, y, margin, expected) => {
    expect(isInside([x, y], margin)).toBe(expected);
  });

  test.each([[[1, 2, 3]], [[3, 1, 2, 4]], [[1, 4, 2, 3]], [[1, -91, 2, 3]], [[1, 2, Number.NaN, 4]], ['1,2,3,4']])(
    'is not %j',
    (bounds) => expect(isBounds(bounds)).toBe(false),
  );
});

describe('a boundary in the Osmosis polygon format', () => {
  const poly = `region
1
   1.0E+01   5.0E+01
   11   50
   11   51
   10   51
   10   50
END
!2
   10.4 50.4
   10.6 50.4
   10.5 50.6
END
END
`;

  test('is read with its holes, which may be open', () => {
    const rings = parsePoly(poly)!;
    expect(rings).toHaveLength(2);
    expect(rings[1]![0]).toEqual(rings[1]!.at(-1));
    const isInside = roadBoundary(rings);
    expect(isInside([10.2, 50.2], 500)).toBe(true);
    expect(isInside([10.5, 50.5], 500)).toBe(false);
    expect(isInside([9.5, 50.5], 500)).toBe(false);
  });

  test.each([
    ['nothing', ''],
    ['no end', poly.replaceAll('END', '')],
    ['a ring of two points', 'a\n1\n1 1\n2 2\nEND\nEND'],
    ['text for a number', poly.replace('11   50', 'x 50')],
    ['no rings', 'a\nEND\n'],
  ])('is not %s', (_, text) => expect(parsePoly(text)).toBeUndefined());
});
