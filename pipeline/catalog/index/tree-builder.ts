/** Builds static trees. Large ones are built in a worker thread, because a million boxes take half a second. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { packTree, treeNodeSize } from './box-tree.js';

/** Trees of fewer boxes are built synchronously, in under 10 ms. */
const boxesBuiltAtOnce = 20_000;

/** Packs boxes into trees. After `close`, running builds never call `done`. */
export interface TreeBuilder {
  /**
   * Calls `done` with the packed tree: at once for few boxes, else when the worker is done. There must be at least one
   * box.
   */
  build(boxes: Int32Array, done: (packed: SharedArrayBuffer) => void): void;
  close(): Promise<void>;
}

/**
 * `packTree` as the text of a worker. A text runs both from source and from the build, where paths differ.
 */
const program = `
  const { parentPort, workerData } = require('node:worker_threads');
  const loading = import(workerData.flatbush);
  parentPort.on('message', async ({ boxes, nodeSize }) => {
    const { default: Flatbush } = await loading;
    const tree = new Flatbush(boxes.length / 4, nodeSize, Int32Array, SharedArrayBuffer);
    for (let at = 0; at < boxes.length; at += 4) tree.add(boxes[at], boxes[at + 1], boxes[at + 2], boxes[at + 3]);
    tree.finish();
    parentPort.postMessage(tree.data);
  });
`;

/**
 * Creates a builder. Its worker starts with the first large build and does not keep the process alive. A failure in the
 * worker is an uncaught exception.
 */
export function createTreeBuilder(): TreeBuilder {
  const waiting: ((packed: SharedArrayBuffer) => void)[] = [];
  let worker: Worker | undefined;

  function start(): Worker {
    const flatbush = pathToFileURL(createRequire(import.meta.url).resolve('flatbush')).href;
    const started = new Worker(program, { eval: true, workerData: { flatbush } });
    started.on('message', (packed: SharedArrayBuffer) => waiting.shift()?.(packed));
    started.unref();
    return started;
  }

  return {
    build(boxes, done) {
      if (boxes.length < boxesBuiltAtOnce * 4) return done(packTree(boxes));
      worker ??= start();
      waiting.push(done);
      worker.postMessage({ boxes, nodeSize: treeNodeSize });
    },
    async close() {
      waiting.length = 0;
      await worker?.terminate();
    },
  };
}
