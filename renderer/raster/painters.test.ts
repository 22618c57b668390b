import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('the compiled painters are those of the source', async () => {
  // @ts-expect-error A script without types.
  const { compiledPainters } = await import('./assembly/compile.mjs');
  const compiled = readFileSync(new URL('compiled/painters.wasm', import.meta.url));
  expect(compiled.equals(await compiledPainters()), 'run node renderer/raster/assembly/compile.mjs').toBe(true);
});
