/**
 * Stores the places of catalogues in the read model, which may be many: records by id, a list by time, and an index by
 * position, all on disk. Nothing is kept in memory.
 *
 * Keys of the index have a fixed width and sort by row of latitude, then longitude: scope 13 bytes, row 2, longitude 4,
 * latitude 4, id 12. A search reads one range per row.
 */
import type { RootDatabase } from 'lmdb';
import type { Position } from '../../../../schemas/json/common.js';
import type { PlaceRecord } from '../../../../schemas/json/place.js';
import { createTurns } from '../../../../schemas/turns.js';
import { distance, latitudeReach, longitudeReach } from '../../../geometry/scale.js';
import type { NearbyPlace, NearPlacesQuery, Page, PlaceCatalogue, PlaceListQuery, Scope } from '../../types.js';
import { findInScope } from './find.js';
import { endOfTime, idKey, noValue, scopePart, timePart } from './keys.js';
import { isBeyondCursor } from './list-reader.js';

interface StoredPlaces extends PlaceCatalogue {
  /** Replaces a place; null deletes it. Must run in a write transaction. */
  replaceSync(id: string, after: PlaceRecord | null): void;
  /** Returns the place of any scope. */
  get(id: string): PlaceRecord | undefined;
  getKeys(): Iterable<Buffer>;
}

/** Follows a key to get the first position after it. */
const noBits = Buffer.alloc(1);
const idAt = -12;

/** Rows of latitude have this height: 1.1 km. */
const rowDegrees = 0.01;
const maxRow = 180 / rowDegrees;
/** Steps of a coordinate in a key: 1e-7 degrees. */
const steps = 1e7;

/** Entries of the index that one search reads; a search in a denser area answers the nearest of them. */
const maxExamined = 50_000;
/** What a search reads before other work of this thread continues. */
const entriesPerTurn = 2_000;
const recordsPerTurn = 100;
/** Shares of the radius that are searched in turn, so that a search of few results reads few entries. */
const widenings = [1 / 16, 1 / 4, 1];

const rowOf = (latitude: number): number => Math.min(maxRow, Math.max(0, Math.floor((latitude + 90) / rowDegrees)));

function cellKey(scope: Scope, row: number, longitude: number, latitude: number, id?: string): Buffer {
  const part = Buffer.allocUnsafe(10);
  part.writeUInt16BE(row, 0);
  part.writeUInt32BE(Math.round((Math.min(180, Math.max(-180, longitude)) + 180) * steps), 2);
  part.writeUInt32BE(Math.round((latitude + 90) * steps), 6);
  return Buffer.concat([scopePart(scope), part, ...(id === undefined ? [] : [idKey(id)])]);
}

/** Returns the position after all entries of a position. */
const endOfCells = (key: Buffer): Buffer => Buffer.concat([key, Buffer.alloc(1 - idAt, 0xff)]);

const positionOfKey = (key: Buffer): Position => [
  key.readUInt32BE(15) / steps - 180,
  key.readUInt32BE(19) / steps - 90,
];

/** Ranges of longitude, of which a search across the antimeridian has two. */
function longitudeRanges(longitude: number, reach: number): (readonly [number, number])[] {
  const [west, east] = [longitude - reach, longitude + reach];
  if (reach >= 180) return [[-180, 180]];
  if (west < -180)
    return [
      [-180, east],
      [west + 360, 180],
    ];
  if (east > 180)
    return [
      [west, 180],
      [-180, east - 360],
    ];
  return [[west, east]];
}

/** Yields the ranges of keys that hold all places of a circle, by row. They hold some outside of it, too. */
function* rangesAround(scope: Scope, [longitude, latitude]: Position, radiusM: number) {
  const reach = latitudeReach(radiusM);
  const longitudes = longitudeRanges(longitude, longitudeReach(latitude, radiusM));
  const lastRow = rowOf(latitude + reach);
  for (let row = rowOf(latitude - reach); row <= lastRow; row++) {
    for (const [west, east] of longitudes) {
      // Two steps beyond, for the rounding of both ends.
      yield { start: cellKey(scope, row, west, -90), end: endOfCells(cellKey(scope, row, east + 2 / steps, 90)) };
    }
  }
}

/** Opens the databases of places in the read model. */
export function openStoredPlaces(root: RootDatabase): StoredPlaces {
  const binary = { encoding: 'binary', keyEncoding: 'binary' } as const;
  const records = root.openDB<PlaceRecord, Buffer>('places', { encoding: 'json', keyEncoding: 'binary' });
  /** Scope, time of the last change, id. */
  const times = root.openDB<Buffer, Buffer>('placeTimes', binary);
  const cells = root.openDB<Buffer, Buffer>('placeCells', binary);
  const nextTurn = createTurns();

  const timeKey = (record: PlaceRecord): Buffer =>
    Buffer.concat([scopePart(record), timePart(record.updatedAt), idKey(record._id)]);
  const cellOf = (record: PlaceRecord): Buffer =>
    cellKey(record, rowOf(record.center[1]), record.center[0], record.center[1], record._id);

  /** Resolves to the ids within a radius, nearest first; undefined if there are too many to examine. */
  async function within(scope: Scope, center: Position, radiusM: number) {
    const [longitude, latitude] = center;
    const nearby: { id: string; distanceM: number }[] = [];
    const examine = (key: Buffer): void => {
      const [x, y] = positionOfKey(key);
      const distanceM = distance(longitude, latitude, x, y);
      if (distanceM <= radiusM) nearby.push({ id: key.toString('hex', key.length + idAt), distanceM });
    };
    let examined = 0;
    for (const { start: first, end } of rangesAround(scope, center, radiusM)) {
      for (let start = first; ; ) {
        const keys = [...cells.getKeys({ start, end, limit: entriesPerTurn })];
        examined += keys.length;
        if (examined > maxExamined) return undefined;
        keys.forEach(examine);
        if (keys.length < entriesPerTurn) break;
        start = Buffer.concat([keys.at(-1)!, noBits]);
        await nextTurn();
      }
    }
    return nearby.sort((a, b) => a.distanceM - b.distanceM || (a.id < b.id ? -1 : 1));
  }

  return {
    find: (scope, id) => findInScope(records, scope, id),
    get: (id) => records.get(idKey(id)),
    getKeys: () => records.getKeys(),
    list({ limit, cursor, updatedBefore = endOfTime, updatedAfter = -1, ...scope }: PlaceListQuery): Page<PlaceRecord> {
      const prefix = scopePart(scope);
      const keys = times.getKeys({
        start: Buffer.concat([
          prefix,
          timePart(cursor?.timeMs ?? updatedBefore),
          ...(cursor ? [idKey(cursor.id)] : []),
        ]),
        end: Buffer.concat([prefix, timePart(updatedAfter + 1)]),
        reverse: true,
        // The range begins with the last place of the previous page.
        limit: limit + 2,
      });
      const items = [...keys]
        .flatMap((key) => records.get(key.subarray(idAt)) ?? [])
        .filter(({ updatedAt, _id }) => isBeyondCursor(cursor, updatedAt, _id));
      return { items: items.slice(0, limit), hasMore: items.length > limit };
    },
    async near({ near, radiusM, limit, accepts, ...scope }: NearPlacesQuery): Promise<NearbyPlace[]> {
      const found: NearbyPlace[] = [];
      /** By id, because places may move between two turns. */
      const seen = new Set<string>();
      for (const share of widenings) {
        const nearby = await within(scope, near, share * radiusM);
        if (nearby === undefined) break;
        for (const { id, distanceM } of nearby) {
          if (seen.has(id)) continue;
          seen.add(id);
          const record = records.get(idKey(id));
          if (record !== undefined && accepts(record)) found.push({ record, distanceM });
          if (found.length === limit) return found;
          if (seen.size % recordsPerTurn === 0) await nextTurn();
        }
      }
      return found;
    },
    replaceSync(id, after) {
      const before = records.get(idKey(id));
      if (before) {
        times.removeSync(timeKey(before));
        cells.removeSync(cellOf(before));
      }
      if (after === null) {
        records.removeSync(idKey(id));
        return;
      }
      records.putSync(idKey(id), after);
      times.putSync(timeKey(after), noValue);
      cells.putSync(cellOf(after), noValue);
    },
  };
}
