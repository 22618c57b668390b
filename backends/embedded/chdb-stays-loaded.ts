/**
 * Keeps chDB's native library mapped for the life of the process.
 *
 * A native addon that only a worker thread has loaded is unmapped when that thread ends, while chDB's threads still run
 * in it. The process then crashes with a segmentation fault at exit. Once the main thread has loaded the addon too, the
 * process exits cleanly (return, process.exit, worker.terminate) with its exit code. Loading starts no engine and takes
 * 60 ms.
 */
import { isChdbInstalled } from './chdb-package.js';

if (isChdbInstalled) await import('chdb');
