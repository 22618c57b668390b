/** Valhalla's own service, over HTTP. */
import { requestJson } from '../json-request.js';
import type { RoadEngine } from '../roads/engine.js';
import { type HttpEngineOptions, rememberState, unknownFailure } from '../roads/http-engine.js';
import { createValhallaEngine, type Valhalla } from './engine.js';

/** Creates the engine for a Valhalla service at `url`. An empty `apiKey` sends none. */
export function createValhallaService({ url, apiKey, boundary, now }: HttpEngineOptions): RoadEngine {
  const base = url.replace(/\/+$/, '');
  // Valhalla has no keys. Services that add them take this parameter.
  const query = apiKey === '' ? '' : `?api_key=${encodeURIComponent(apiKey)}`;

  const ask: Valhalla = async (action, request, { signal }) => {
    const path = action === 'matrix' ? 'sources_to_targets' : action;
    const response = await requestJson({ url: `${base}/${path}${query}`, method: 'POST', body: request, signal });
    if (!response.ok) return response;
    const { status, body } = response.value;
    if (status === 200 && body !== undefined) return { ok: true, value: { kind: 'answer', body } };
    const { error } = (body ?? {}) as { error?: unknown };
    if (status === 400 && typeof error === 'string') return { ok: true, value: { kind: 'refused', reason: error } };
    return unknownFailure(status, typeof error === 'string' ? error : '');
  };

  const state = rememberState(
    { url: `${base}/status${query}`, method: 'POST', body: {} },
    ({ version, tileset_last_modified: seconds } = {}) => {
      const roadDataAt = typeof seconds === 'number' ? seconds * 1_000 : null;
      return { ok: true, value: { version: typeof version === 'string' ? version : null, roadDataAt, boundary } };
    },
    now,
  );

  return createValhallaEngine({ name: 'valhalla', ask, state, close: async () => {} });
}
