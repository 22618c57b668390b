// Compiles the painters to WebAssembly. The file is in the repository, and a test compares it with its source.
//
//   node renderer/raster/assembly/compile.mjs           writes renderer/raster/compiled/painters.wasm
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Returns the bytes of the compiled painters. Throws with the compiler's messages. */
export async function compiledPainters() {
  const { default: compiler } = await import('assemblyscript/asc');
  const index = fileURLToPath(new URL('index.ts', import.meta.url));
  const options = ['--optimizeLevel', '3', '--shrinkLevel', '0', '--noAssert', '--runtime', 'stub', '--enable', 'simd'];
  // Vectors are passed between functions that are all compiled together.
  const quiet = ['--disableWarning', '112'];
  let bytes;
  const { error, stderr } = await compiler.main([index, ...options, ...quiet, '--outFile', 'painters.wasm'], {
    writeFile: (_name, content) => {
      bytes = content;
    },
  });
  if (error) throw new Error(`${error.message}\n${stderr.toString()}`);
  return bytes;
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(new URL('../compiled/painters.wasm', import.meta.url), await compiledPainters());
