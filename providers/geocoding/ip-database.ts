/**
 * Addresses of IP addresses, from a MaxMind DB file of the operator, such as GeoLite2 City or DB-IP City Lite.
 *
 * The file is read with the first request, and again when it was replaced, so a monthly update needs no restart. It is
 * kept in memory as it is.
 */
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';
import { type CityResponse, Reader } from 'mmdb-lib';
import { hasElapsed } from '../../schemas/durations.js';
import type { Position } from '../../schemas/json/common.js';
import { type Answer, refusal } from '../answer.js';

/** Where an IP address is, as far as the database tells. */
export interface IpAddress {
  readonly position: Position;
  /** Radius in metres within which the address is likely to be. */
  readonly accuracyM?: number;
  readonly city?: string;
  readonly state?: string;
  readonly stateCode?: string;
  readonly postalCode?: string;
  readonly country?: string;
  readonly countryCode?: string;
}

/** Finds where an IP address is, in a file of the operator. */
export interface IpGeocoder {
  /** Null: the database does not know the address. Error: `unavailable` if the file is not readable. */
  locate(ip: string): Promise<Answer<IpAddress | null>>;
}

/** The file is compared with the one in memory this often at most. */
const checkIntervalMs = 60_000;

interface Opened {
  readonly reader: Reader<CityResponse>;
  /** Recognises a replaced file. */
  readonly mark: string;
}

/** Creates the geocoder over a MaxMind DB file, which is opened with the first call. `clock` returns epoch ms. */
export function createIpGeocoder(path: string, clock: () => number = Date.now): IpGeocoder {
  let opened: Opened | undefined;
  let checkedAtMs = -Infinity;
  let opening: Promise<Opened> | undefined;

  async function open(): Promise<Opened> {
    try {
      const { mtimeMs, size } = await stat(path);
      const mark = `${mtimeMs}/${size}`;
      if (opened?.mark !== mark) opened = { reader: new Reader<CityResponse>(await readFile(path)), mark };
    } catch (error) {
      // The file is being replaced: the former one counts until then.
      if (opened === undefined) throw error;
    }
    checkedAtMs = clock();
    return opened;
  }

  async function current(): Promise<Opened> {
    if (opened !== undefined && !hasElapsed(checkIntervalMs, checkedAtMs, clock())) return opened;
    opening ??= open().finally(() => {
      opening = undefined;
    });
    return opening;
  }

  return {
    async locate(ip) {
      if (isIP(ip) === 0) return { ok: true, value: null };
      let file: Opened;
      try {
        file = await current();
      } catch {
        return refusal('unavailable', 'the file of geocoding.ipDatabase is missing or not a MaxMind DB file');
      }
      return { ok: true, value: addressOf(find(file.reader, ip)) };
    },
  };
}

/** A database of IPv4 only refuses IPv6 addresses, which it does not know. */
function find(reader: Reader<CityResponse>, ip: string): CityResponse | null {
  if (reader.metadata.ipVersion === 4 && isIP(ip) === 6) return null;
  return reader.get(ip);
}

function addressOf(entry: CityResponse | null): IpAddress | null {
  const { longitude, latitude, accuracy_radius: radiusKm } = entry?.location ?? {};
  if (entry === null || longitude === undefined || latitude === undefined) return null;
  const country = entry.country ?? entry.registered_country;
  const [state] = entry.subdivisions ?? [];
  const parts = {
    accuracyM: radiusKm === undefined ? undefined : 1_000 * radiusKm,
    city: entry.city?.names?.en,
    state: state?.names?.en,
    stateCode: state?.iso_code,
    postalCode: entry.postal?.code,
    country: country?.names?.en,
    countryCode: country?.iso_code,
  };
  const known = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined));
  return { position: [longitude, latitude], ...known };
}
