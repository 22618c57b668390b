/** The embedded Valhalla on the road data that `fenceline roads build` has built. */
import { type Answer, refusal } from '../answer.js';
import type { EngineState, RoadEngine } from '../roads/engine.js';
import type { ActorResult } from './actor.js';
import type { ValhallaProcess } from './child.js';
import { createValhallaEngine, type Valhalla } from './engine.js';
import { isInstalled, notInstalled } from './package.js';
import { followRoadData, type RoadData } from './road-data.js';

/** Creates the engine over road data in `folder`. Answers `not_available` while there is none, or no package. */
export function createEmbeddedValhalla(folder: string, router: ValhallaProcess): RoadEngine {
  const current = followRoadData(folder);

  async function roadData(): Promise<Answer<RoadData>> {
    const data = await current();
    if (data === undefined)
      return refusal(
        'not_available',
        'this needs road data: run "fenceline roads build", or set routing.provider and routing.url',
      );
    return isInstalled() ? { ok: true, value: data } : refusal('not_available', notInstalled);
  }

  const ask: Valhalla = async (action, request, limit) => {
    const data = await roadData();
    if (!data.ok) return data;
    const result = await router.ask(data.value.tilesFolder, action, JSON.stringify(request), limit);
    if (!result.ok) return result;
    return { ok: true, value: parsed(result.value) };
  };

  async function state(): Promise<Answer<EngineState>> {
    const data = await roadData();
    if (!data.ok) return data;
    const { version, roadDataAt, isInside } = data.value;
    return { ok: true, value: { version, roadDataAt, boundary: isInside } };
  }

  return createValhallaEngine({ name: 'embedded', ask, state, close: () => router.close() });
}

const parsed = (result: ActorResult) =>
  result.kind === 'answer' ? ({ kind: 'answer', body: JSON.parse(result.text) } as const) : result;
