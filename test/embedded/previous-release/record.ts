/**
 * What a data folder of a release holds beside its answers, as `write.ts` records it and the test of upgrades reads it.
 *
 * The server's clock is in 2050, when the folder is written and when it is read. Otherwise its locations would expire
 * after a week, and its rows after a year.
 */
import { fileURLToPath } from 'node:url';
import type { Keys } from '../../../server/server-process.js';
import type { Json } from '../../support/client.js';

export const enteredAt = '2050-01-01T00:00:00.000Z';
export const writtenAt = '2050-01-01T00:01:00.000Z';
/** A day later, when the devices leave. */
export const leftAt = '2050-01-02T00:00:00.000Z';
export const readAt = '2050-01-02T00:01:00.000Z';

export const password = 'correct horse battery';
export const email = 'ada@example.com';

/** Devices that are inside when the release stops. */
export const visitors = ['van-1', 'van-2', 'van-3'];

export interface ReleaseRecord {
  readonly version: string;
  /** Keys that hold, and one that was replaced. */
  readonly keys: Keys;
  readonly replacedKey: string;
  readonly adminApiKey: string;
  readonly webhook: string;
  /** The webhook's signing secret. */
  readonly secret: string;
  /** Ids of the deliveries that wait, with their bodies. */
  readonly pending: Readonly<Record<string, string>>;
  /** Bodies of answers, by path. */
  readonly answers: Readonly<Record<string, Json>>;
}

/** Returns the settings that the folder is written and read with, at a time of ISO 8601. */
export function settingsAt(time: string): Record<string, string> {
  const clock = fileURLToPath(new URL('clock.cjs', import.meta.url).href.replace('/dist/', '/'));
  return {
    NODE_OPTIONS: `--require ${clock}`,
    TEST_CLOCK_OFFSET_MS: `${Date.parse(time) - Date.now()}`,
    FENCELINE_LOCATIONS_PARTITIONS: '2',
    FENCELINE_SIGNUP_ENABLED: 'on',
    FENCELINE_WEBHOOKS_ALLOWED_NETWORKS: '127.0.0.0/8',
  };
}
