/**
 * The process of an engine that is a library. It draws the scene itself from its options, and answers calls over IPC.
 */
import { answerCalls } from '../child.js';
import { ownMemoryMib } from '../memory.js';
import type { Usage } from './engine.js';
import { createFencelineCore } from './fenceline.js';
import { createFlatbushCore } from './flatbush.js';
import type { Call, Core } from './in-process.js';
import { drawScene, type Scene, type SceneOptions } from './scene.js';

const cores: Readonly<Record<string, (scene: Scene) => Core>> = {
  fenceline: createFencelineCore,
  flatbush: createFlatbushCore,
};

function processorSecondsSoFar(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

function serve(name: string, options: SceneOptions): void {
  const scene = drawScene(options);
  const core = cores[name]!(scene);
  /** What was used before the engine began, and for measuring: a collection of a million devices takes a second. */
  let notOfTheEngineS = 0;

  function measured(): Usage {
    const processorS = processorSecondsSoFar() - notOfTheEngineS;
    globalThis.gc?.();
    const memoryMib = ownMemoryMib(process.pid);
    notOfTheEngineS = processorSecondsSoFar() - processorS;
    return { processorS, memoryMib };
  }
  const before = measured();

  function usage(): Usage {
    const { processorS, memoryMib } = measured();
    return { processorS: processorS - before.processorS, memoryMib: memoryMib - before.memoryMib };
  }

  function answerTo(call: Call): unknown {
    switch (call.kind) {
      case 'load':
        return core.load(scene.fences());
      case 'apply':
        return core.apply(call.from, call.to);
      case 'locate':
        return core.locate(call.fix);
      case 'put':
        return core.put(call.fence);
      case 'restart':
        return core.restart();
      case 'usage':
        return usage();
    }
  }

  answerCalls(answerTo);
}

serve(process.argv[2]!, JSON.parse(process.argv[3]!));
