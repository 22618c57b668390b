/** What the routes of the API work with. */
import type { ConfigurationReader, ConfigurationWriter, Scope, SpatialQueries } from '../pipeline/catalog/types.js';
import type { Analytics } from '../pipeline/ports.js';
import type { DeviceState } from '../schemas/records.js';

export interface ApiDeps {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
  readonly spatial: SpatialQueries;
  readonly analytics: Pick<Analytics, 'query'>;
  /** Epoch ms. */
  readonly clock: () => number;
  /** The stored state of a device; absent where this node can't ask for it. */
  readonly states?: (scope: Scope, deviceId: string) => Promise<DeviceState | undefined>;
}
