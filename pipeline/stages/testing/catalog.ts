import type { Catalog } from '../../catalog/types.js';
import type { View } from '../../catalog/view.js';
import { beaconKey } from '../../evaluation/beacons.js';
import { flatFence, surroundingsOf } from '../../evaluation/testing/flat-world.js';

export async function openCatalog(view: View): Promise<{ catalog: Catalog; close(): Promise<void> }> {
  const catalog: Catalog = {
    configuration: view,
    catchUp: () => view.refresh(),
    surroundings(scope) {
      const project = view.project(scope.project);
      if (!project) return undefined;
      const q = { ...scope, limit: 1000, orderBy: 'createdAt' as const };
      const beacons = view.beacons(q).items;
      return {
        ...surroundingsOf({
          settings: project.settings[scope.environment],
          fences: view
            .geofences(q)
            .items.map((g) => flatFence(g._id, g.center[0], g.center[1], g.radius / 111_000, { enabled: g.enabled })),
          beacons: [],
        }),
        beacons: {
          match: (r) => {
            const b = beacons.find((b) => beaconKey(b as never) === beaconKey(r));
            return b && { id: b._id, enabled: b.enabled };
          },
          byId: (id) => {
            const b = beacons.find((b) => b._id === id);
            return b && { id: b._id, enabled: b.enabled };
          },
        },
      };
    },
  };
  return { catalog, close: async () => {} };
}
