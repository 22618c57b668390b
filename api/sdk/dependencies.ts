/** What the routes of SDK calls depend on. */
import type { ConfigurationReader, Scope, SpatialQueries } from '../../pipeline/catalog/types.js';
import type { Log } from '../../pipeline/ports.js';
import type { RouteProvider } from '../../providers/routes/provider.js';
import type { DeviceState } from '../../schemas/records.js';

/** The metrics of these calls. The process implements {@link SdkDependencies.metrics} with its metrics library. */
export const sdkMetrics = {
  conversions_accepted_total: { kind: 'counter', help: 'Events that clients reported themselves.' },
  client_log_lines_total: { kind: 'counter', help: 'Log lines that SDKs sent; counted and dropped.' },
} as const;

/** What the routes of SDKs use, besides those of locations. */
export interface SdkDependencies {
  readonly configuration: ConfigurationReader;
  readonly spatial: Pick<SpatialQueries, 'context' | 'searchGeofences' | 'searchBeacons'>;
  readonly log: Pick<Log, 'append'>;
  /** Returns the stored state of a device; undefined for a device that was never seen. */
  readonly states: (scope: Scope, deviceId: string) => Promise<DeviceState | undefined>;
  /** Absent: the operator wants none. */
  readonly routes?: RouteProvider | undefined;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Limit of the body of /v1/logs. */
  readonly maxLogsBytes: number;
  readonly metrics: { add(counter: keyof typeof sdkMetrics, amount: number): void };
}
