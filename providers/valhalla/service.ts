/** Valhalla's own service, over HTTP. */
import { createJsonClient } from '../json-request.js';
import type { RoadEngine } from '../roads/engine.js';
import { dateOf, type HttpEngineOptions, rememberState, unknownFailure, versionOf } from '../roads/http-engine.js';
import { createValhallaEngine, type Valhalla } from './engine.js';

/** Creates the engine for a Valhalla service at `url`. An empty `apiKey` sends none. */
export function createValhallaService({ url, apiKey, boundary, now }: HttpEngineOptions): RoadEngine {
  const base = url.replace(/\/+$/, '');
  const client = createJsonClient();
  // Valhalla has no keys. Services that add them take this parameter.
  const query = apiKey === '' ? '' : `?api_key=${encodeURIComponent(apiKey)}`;

  const ask: Valhalla = async (action, request, { signal }) => {
    const path = action === 'matrix' ? 'sources_to_targets' : action;
    const response = await client.request({ url: `${base}/${path}${query}`, method: 'POST', body: request, signal });
    if (!response.ok) return response;
    const { status, body } = response.value;
    if (status === 200 && body !== undefined) return { ok: true, value: { kind: 'answer', body } };
    const { error } = (body ?? {}) as { error?: unknown };
    if (status === 400 && typeof error === 'string') return { ok: true, value: { kind: 'refused', reason: error } };
    return unknownFailure(status, typeof error === 'string' ? error : '');
  };

  const state = rememberState(
    client,
    { url: `${base}/status${query}`, method: 'POST', body: {} },
    ({ version, tileset_last_modified: seconds } = {}) => {
      const roadDataAt = typeof seconds === 'number' ? dateOf(seconds * 1_000) : null;
      return { ok: true, value: { version: versionOf(version), roadDataAt, boundary } };
    },
    now,
  );

  return createValhallaEngine({ name: 'valhalla', ask, state, close: () => client.close() });
}
