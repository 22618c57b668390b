/** Links the shaders of a map beside the page, which would stand still until the driver has linked each of them. */
import type { Map as MapLibreMap } from 'maplibre-gl';
import { createGpuFence, type GpuFence } from './gpu-fence';

interface ShaderLinks {
  /** Tests whether the last frame lacks a layer. */
  areWaiting(): boolean;
  /**
   * Takes the programs that were linked meanwhile, as many as fit into a short task. The last frame must be done: a
   * driver that says nothing about links has done those that it was given with the frame.
   */
  takeLinked(): void;
}

const taskMs = 5;

type Cache = MapLibreMap['painter']['programCache'];
type Variant = Parameters<Cache['getProgram']>[0];
type Program = ReturnType<Cache['getProgram']>;

/**
 * Lets a map draw frames while its programs are linked. MapLibre links a program when a layer needs it, and asks at
 * once whether that has succeeded. The answer takes as long as the link: up to seconds where the processor draws. Here
 * MapLibre hears that the driver has no answer, and draws the frame without the layer. When the program is linked,
 * MapLibre gets it in place of a new one.
 */
export function linkBesidePage(map: MapLibreMap): ShaderLinks {
  const { context, programCache: cache } = map.painter;
  const { gl } = context;
  const parallel = gl.getExtension('KHR_parallel_shader_compile') as { COMPLETION_STATUS_KHR: number } | null;
  const build = cache.getProgram.bind(cache);
  const ask = WebGL2RenderingContext.prototype.getProgramParameter.bind(gl);
  /** Answers at once. Undefined: the driver says nothing about links, and would only answer when all is done. */
  const isLinked = (program: WebGLProgram): boolean | undefined =>
    parallel === null ? undefined : ask(program, parallel.COMPLETION_STATUS_KHR) === true;
  let calm: GpuFence | undefined;
  const waiting: { readonly variant: Variant; readonly program: Program }[] = [];

  /** Calls back while methods of the context are replaced. Other users of the context have its own ones. */
  function withMethods<Result>(methods: Partial<WebGL2RenderingContext>, action: () => Result): Result {
    Object.assign(gl, methods);
    try {
      return action();
    } finally {
      for (const name of Object.keys(methods)) delete (gl as unknown as Record<string, unknown>)[name];
    }
  }

  cache.getProgram = (variant) => {
    const begun = new Set<WebGLProgram>();
    const getProgramParameter = (program: WebGLProgram, name: number) => {
      if (name === gl.LINK_STATUS && !isLinked(program)) begun.add(program);
      // Without a status and shaders, MapLibre takes the driver for gone, and draws nothing with the program.
      const isUnknown = begun.has(program) && (name === gl.LINK_STATUS || name === gl.ATTACHED_SHADERS);
      return isUnknown ? 0 : ask(program, name);
    };
    const program = withMethods({ getProgramParameter }, () => build(variant));
    if (begun.has(program.program)) {
      // The link ends with the frame, and not with the first question.
      if (parallel === null) gl.validateProgram(program.program);
      waiting.push({ variant, program });
    }
    return program;
  };

  /** Gives MapLibre the linked program where it would create one. */
  function rebuild(variant: Variant, linked: WebGLProgram): void {
    const shaders = gl.getAttachedShaders(linked) ?? [];
    const nothing = () => {};
    withMethods(
      {
        createProgram: () => linked,
        createShader: (type) => shaders.find((each) => gl.getShaderParameter(each, gl.SHADER_TYPE) === type) ?? null,
        shaderSource: nothing,
        compileShader: nothing,
        attachShader: nothing,
        linkProgram: nothing,
      },
      () => build(variant),
    );
  }

  function takeNext(): boolean {
    const at = waiting.findIndex(({ program }) => gl.isContextLost() || (isLinked(program.program) ?? true));
    const [next] = at < 0 ? [] : waiting.splice(at, 1);
    if (next === undefined) return false;
    const { programs } = cache as unknown as { readonly programs: Record<string, Program> };
    const key = Object.keys(programs).find((each) => programs[each] === next.program);
    if (key === undefined || gl.isContextLost()) return true;
    delete programs[key];
    rebuild(next.variant, next.program.program);
    return true;
  }

  /**
   * Tests whether the driver has gone through what it had to do. It brings a frame to the screen right after it has
   * drawn it, and a question would wait for that.
   */
  function isCalm(): boolean {
    if (gl.isContextLost()) return true;
    if (calm === undefined) {
      calm = createGpuFence(gl);
      return false;
    }
    if (!calm.isPassed()) return false;
    calm.remove();
    calm = undefined;
    return true;
  }

  return {
    areWaiting: () => waiting.length > 0,
    takeLinked() {
      if (waiting.length === 0 || !isCalm()) return;
      const endMs = performance.now() + taskMs;
      while (takeNext() && performance.now() < endMs);
    },
  };
}
