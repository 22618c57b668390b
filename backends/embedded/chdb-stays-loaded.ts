/**
 * Keeps chDB's native library mapped for the life of the process.
 *
 * A native addon that only a worker thread has loaded is unmapped when that thread ends, while chDB's own threads still
 * run in it: the process then dies of a segmentation fault at exit, closed or not, by whichever way it ends. Once the
 * main thread has loaded the addon as well, every way out is clean (return, process.exit, worker.terminate) and keeps
 * its exit code. Loading starts no engine and takes 60 ms.
 */
import 'chdb';
