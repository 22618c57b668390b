import fc from 'fast-check';
import { expect, test } from 'vitest';
import { LatestFrames } from './latest-frames.js';

const set = fc.record({ key: fc.constantFrom('a', 'b', 'c', 'd'), frame: fc.string({ maxLength: 200 }) });
const take = fc.constant(undefined);

test('holds the newest frame of each key since the last take, compared with a map', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof({ weight: 5, arbitrary: set }, take)),
      fc.integer({ min: 0, max: 4 }),
      (steps, maxKeys) => {
        const frames = new LatestFrames(maxKeys);
        const model = new Map<string, string>();
        for (const step of steps) {
          if (step !== undefined) {
            frames.set(step.key, Buffer.from(step.frame));
            model.set(step.key, step.frame);
          } else {
            const taken: string[] = [];
            frames.takeAll((frame) => taken.push(frame.toString()));
            expect(taken.sort()).toEqual([...model.values()].sort());
            model.clear();
          }
          expect(frames.pending).toBe(model.size);
        }
      },
    ),
  );
});
