/**
 * Keeps chDB's native library mapped for the life of the process, in a time zone that it knows.
 *
 * A native addon that only a worker thread has loaded is unmapped when that thread ends, while chDB's threads still run
 * in it. The process then crashes with a segmentation fault at exit. Once the main thread has loaded the addon too, the
 * process exits cleanly (return, process.exit, worker.terminate) with its exit code. Loading starts no engine and takes
 * 30 ms.
 */
import { createRequire } from 'node:module';
import { chdbLibrary } from './chdb-package.js';

if (chdbLibrary !== undefined) {
  // The engine opens no folder in a zone that it does not know, such as `utc` or one in POSIX form. Its columns are in
  // UTC anyway. Only this thread can set the variable for native code.
  process.env.TZ = 'UTC';
  // The library alone: this thread needs none of the package's 25 modules.
  createRequire(import.meta.url)(chdbLibrary);
}
