/** Tells when the graphics processor has done what it was given, without waiting for it. */

export interface GpuFence {
  /** Answers at once. The fence of a lost context counts as passed. */
  isPassed(): boolean;
  remove(): void;
}

/** Marks the end of all commands that the context was given so far. */
export function createGpuFence(gl: WebGL2RenderingContext): GpuFence {
  const sync = gl.fenceSync(gl.SYNC_GPU_COMMANDS_COMPLETE, 0)!;
  gl.flush();
  return {
    isPassed: () => gl.isContextLost() || gl.getSyncParameter(sync, gl.SYNC_STATUS) === gl.SIGNALED,
    remove: () => gl.deleteSync(sync),
  };
}
