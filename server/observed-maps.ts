/** Counts and times the static maps of a node. */
import { ApiError } from '../schemas/errors.js';
import type { Maps } from './maps.js';
import type { Recorder } from './metrics.js';

/** Returns maps that record the metrics `maps_rendered_total`, `map_render_seconds` and `maps_rendering`. */
export const observedMaps = (maps: Maps, recorder: Recorder): Maps => ({
  ...maps,
  async render(project, request, uploads, signal) {
    const startedAtMs = performance.now();
    recorder.add('maps_rendering', 1);
    try {
      const drawn = await maps.render(project, request, uploads, signal);
      recorder.observe('map_render_seconds', (performance.now() - startedAtMs) / 1_000);
      recorder.add('maps_rendered_total', 1, 'drawn');
      return drawn;
    } catch (error) {
      recorder.add('maps_rendered_total', 1, resultOf(error, signal));
      throw error;
    } finally {
      recorder.add('maps_rendering', -1);
    }
  },
});

function resultOf(error: unknown, signal: AbortSignal | undefined): string {
  if (signal?.aborted && error === signal.reason) return 'abandoned';
  return error instanceof ApiError ? 'refused' : 'failed';
}
