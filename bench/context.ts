/** Fences in memory as in the location thread, without log and read model. */
import { MonitoredBeacons } from '../pipeline/catalog/index/monitored-beacons.js';
import { MonitoredFences } from '../pipeline/catalog/index/monitored-fences.js';
import { createTreeBuilder } from '../pipeline/catalog/index/tree-builder.js';
import { createRulesCompiler } from '../pipeline/catalog/store/tables/fence-rules.js';
import { decodeCompactFence, encodeFence } from '../pipeline/catalog/store/tables/stored-fence.js';
import { defaultBounds, type EvaluationContext } from '../pipeline/evaluation/types.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import { defaultSettings } from '../schemas/json/project.js';
import type { Location } from '../schemas/records.js';

/** The project of all fences in memory. */
export const benchProject = '0123456789abcdef01234567';

/** Indexes the records in memory. `put` adds or replaces one while the context is used. */
export function contextOf(records: Iterable<GeofenceRecord>): {
  context: EvaluationContext;
  put(record: GeofenceRecord): void;
  close(): Promise<void>;
} {
  const builder = createTreeBuilder();
  const monitored = new MonitoredFences({ builder, compileRules: createRulesCompiler() });
  for (const record of records) monitored.setUnindexed(record._id, decodeCompactFence(encodeFence(record)));
  monitored.indexAll();
  return {
    context: {
      fences: monitored,
      beacons: new MonitoredBeacons(builder),
      settings: defaultSettings,
      bounds: defaultBounds,
    },
    put: (record) => monitored.set(record._id, decodeCompactFence(encodeFence(record))),
    close: () => builder.close(),
  };
}

/** Returns the record of a location that is received at its own time, epoch ms. */
export const locationOf = (
  deviceId: string,
  longitude: number,
  latitude: number,
  accuracy_m: number,
  now: number,
): Location => ({
  id: '0123456789abcdef01234567',
  project: benchProject,
  environment: 'test',
  deviceId,
  userId: null,
  latitude,
  longitude,
  accuracy_m,
  occurredAt: now,
  receivedAt: now,
  deviceTimed: true,
  foreground: true,
  stopped: false,
  replayed: false,
  beacons: null,
  ip: null,
  source: null,
  replyTo: null,
  details: null,
});
