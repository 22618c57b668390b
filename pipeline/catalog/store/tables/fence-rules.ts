/** Compiles the rules of fences for evaluation. Fences with equal rules share one object. */
import { type BoundedCache, createBoundedCache } from '../../../../schemas/bounded-cache.js';
import { compileAddressRanges } from '../../../evaluation/addresses.js';
import { compileHours } from '../../../evaluation/hours.js';
import type { AddressRanges, FenceRules, OpeningHours } from '../../../evaluation/types.js';
import type { RulesJson } from './stored-fence.js';

/** Number of cached rules, opening hours and address lists. An evicted entry is compiled again. */
const maxShared = 10_000;

const defaultRules: FenceRules = Object.freeze({
  enabled: true,
  disableAfterMs: Infinity,
  deleteAfterMs: Infinity,
  stopDetection: null,
  dwellThreshold_min: null,
  hours: null,
  userIds: null,
  addresses: null,
});

/**
 * Creates a function that compiles the rules text of a compact fence. It throws on an unknown time zone or an invalid
 * address.
 */
export function createRulesCompiler(): (rulesText: string) => FenceRules {
  const shared = createBoundedCache<string, FenceRules>(maxShared);
  const sharedHours = createBoundedCache<string, OpeningHours>(maxShared);
  const sharedAddresses = createBoundedCache<string, AddressRanges>(maxShared);

  function compile(json: RulesJson): FenceRules {
    return Object.freeze({
      enabled: json.enabled ?? true,
      disableAfterMs: json.disableAfter ?? Infinity,
      deleteAfterMs: json.deleteAfter ?? Infinity,
      stopDetection: json.stopDetection ?? null,
      dwellThreshold_min: json.dwellThreshold_min ?? null,
      hours: hoursOf(json),
      userIds: json.userIds ? new Set(json.userIds) : null,
      addresses: json.ip ? through(sharedAddresses, json.ip, () => compileAddressRanges(json.ip!)) : null,
    });
  }

  function hoursOf({ operatingHours, timeZone }: RulesJson): OpeningHours | null {
    if (!operatingHours || !timeZone) return null;
    const key = `${timeZone} ${JSON.stringify(operatingHours)}`;
    return through(sharedHours, key, () => compileHours(operatingHours, timeZone));
  }

  return (text) => (text === '' ? defaultRules : through(shared, text, () => compile(JSON.parse(text) as RulesJson)));
}

function through<T extends object>(cache: BoundedCache<string, T>, key: string, make: () => T): T {
  const known = cache.get(key);
  if (known !== undefined) return known;
  const made = make();
  cache.set(key, made);
  return made;
}
