import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Span } from './sprite-index.js';
import { stretched, unstretched } from './stretch.js';

/** Up to three spans of an image of 30 pixels, and a content. */
const edges = (min: number, max: number) =>
  fc
    .uniqueArray(fc.integer({ min: 0, max: 30 }), { minLength: min, maxLength: max })
    .map((each) => each.sort((a, b) => a - b));
const spans = fc
  .constantFrom(2, 4, 6)
  .chain((count) =>
    edges(count, count).map((each) =>
      Array.from({ length: count / 2 }, (_, i): Span => [each[2 * i]!, each[2 * i + 1]!]),
    ),
  );
const content = edges(2, 2).map(([from, to]): Span => [from!, to!]);

test('parts are contiguous, fixed parts keep their size, and the content has the requested length', () => {
  fc.assert(
    fc.property(fc.option(spans), fc.option(content), fc.integer({ min: 30, max: 300 }), (drawn, inner, contentPx) => {
      const { parts, length, before } = stretched({ length: 30, spans: drawn, content: inner }, contentPx, 0.5);
      expect([parts[0]!.from, parts.at(-1)!.to]).toEqual([0, 30]);
      for (const [i, part] of parts.entries()) {
        if (i > 0) expect([part.from, part.start]).toEqual([parts[i - 1]!.to, parts[i - 1]!.end]);
        const grows = (drawn ?? [[0, 30]]).some(([from, to]) => from === part.from && to === part.to);
        if (!grows) expect(part.end - part.start).toBeCloseTo(0.5 * (part.to - part.from));
      }
      expect(length).toBe(parts.at(-1)!.end);
      const at = (pixel: number) => {
        const part = parts.find(({ to }) => pixel <= to)!;
        return part.start + ((pixel - part.from) / (part.to - part.from)) * (part.end - part.start);
      };
      const [from, to] = inner ?? [0, 30];
      expect(at(from)).toBeCloseTo(before);
      const overlaps = (drawn ?? [[0, 30]]).some((span) => Math.min(span[1], to) > Math.max(span[0], from));
      if (overlaps) expect(at(to) - at(from)).toBeCloseTo(contentPx);
    }),
  );
});

test('an unstretched image has one part', () => {
  expect(unstretched(8, 0.5)).toEqual({ parts: [{ from: 0, to: 8, start: 0, end: 4 }], length: 4, before: 0 });
});
