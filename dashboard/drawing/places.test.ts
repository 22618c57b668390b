import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { readAddress, tools, writeAddress } from './map-address.js';
import {
  allLayers,
  colourNumbers,
  covers,
  maxColouredTags,
  otherTags,
  type Place,
  PlaceIndex,
  searchPlaces,
  shownBy,
  tagCounts,
  widened,
} from './places.js';
import { distanceM } from './shape.js';

const indexOf = (...places: readonly Place[]): PlaceIndex => {
  const index = new PlaceIndex();
  index.put(places);
  return index;
};

const placeAt = (longitude: number, latitude: number, part: Partial<Place> = {}): Place => ({
  kind: 'geofence',
  id: 'one',
  description: 'Market hall',
  tag: 'store',
  externalId: 'hall',
  address: undefined,
  enabled: true,
  centre: [longitude, latitude],
  reachM: 100,
  ring: undefined,
  ...part,
});

describe('places', () => {
  test('are found by all words of their names, as many as asked for', () => {
    const places = [placeAt(0, 0), placeAt(0, 0, { description: 'Yard', address: 'Via Roma 1' })];
    expect(searchPlaces('STORE roma', places, 5)).toEqual([places[1]]);
    expect(searchPlaces('store', places, 1)).toEqual([places[0]]);
    expect(searchPlaces('  ', places, 5)).toEqual([]);
  });

  test('are shown by kind, state and tag, and rare tags are one', () => {
    const tagged = (tag: string, number: number) => Array.from({ length: number }, () => placeAt(0, 0, { tag }));
    const rare = Array.from({ length: maxColouredTags + 2 }, (_, index) => tagged(`tag ${index}`, 20 - index)).flat();
    const tags = tagCounts(rare);
    expect(tags).toHaveLength(maxColouredTags + 1);
    expect(tags.at(-1)?.tag).toBe(otherTags);
    expect(tags.reduce((sum, { count }) => sum + count, 0)).toBe(rare.length);
    const isShown = shownBy({ ...allLayers, hiddenTags: [otherTags], beacons: false, disabled: false }, tags);
    expect(isShown(placeAt(0, 0, { tag: 'tag 0' }))).toBe(true);
    expect(isShown(placeAt(0, 0, { tag: 'tag 8' }))).toBe(false);
    expect(isShown(placeAt(0, 0, { tag: 'tag 0', kind: 'beacon' }))).toBe(false);
    expect(isShown(placeAt(0, 0, { tag: 'tag 0', enabled: false }))).toBe(false);
    expect(colourNumbers({ ...allLayers, colourBy: 'tag' }, tags)(placeAt(0, 0, { tag: 'tag 8' }))).toBe(
      maxColouredTags,
    );
  });

  test('whose centre is within the bounds, or nearer than they reach, are within, also over the antimeridian', () => {
    const degrees = fc.double({ min: 0.001, max: 2, noNaN: true });
    fc.assert(
      fc.property(
        fc.double({ min: -179, max: 179, noNaN: true }),
        fc.double({ min: -70, max: 70, noNaN: true }),
        degrees,
        fc.double({ min: -3, max: 3, noNaN: true }),
        fc.integer({ min: 10, max: 10_000 }),
        (longitude, latitude, half, shift, reachM) => {
          const place = placeAt(longitude, latitude, { reachM });
          const [x, y] = [longitude + shift, latitude + shift / 4];
          const { within } = indexOf(place).within([x - half, y - half, x + half, y + half], () => true, 1);
          const nearest = [
            Math.min(x + half, Math.max(x - half, longitude)),
            Math.min(y + half, Math.max(y - half, latitude)),
          ] as const;
          // More may be within, as long as none is missed.
          if (distanceM(place.centre, nearest) < reachM * 0.99) expect(within).toEqual([place]);
        },
      ),
    );
    const isWithin = (west: number, east: number) =>
      indexOf(placeAt(-179.9, 0)).within([west, -1, east, 1], () => true, 1).within.length === 1;
    expect([isWithin(179, 181), isWithin(-181, -179), isWithin(170, 179)]).toEqual([true, true, false]);
  });

  test('beyond the limit are left out, and that is said', () => {
    const { within, hasMore } = indexOf(placeAt(0, 0), placeAt(0, 0, { id: 'two' })).within(
      ...([[-1, -1, 1, 1], () => true, 1] as const),
    );
    expect([within.length, hasMore]).toEqual([1, true]);
  });

  test('beyond the limit are the smallest, and all are counted', () => {
    const sizes = [20, 500, 40, 300, 60];
    const index = indexOf(
      ...sizes.map((reachM, at) => placeAt(0, 0, { id: `${at}`, reachM })),
      placeAt(9, 0, { id: 'far' }),
    );
    const { largest, total } = index.largestWithin([-1, -1, 1, 1], () => true, 2);
    expect([largest.map(({ reachM }) => reachM), total]).toEqual([[500, 300], 5]);
    expect(index.largestWithin([-1, -1, 1, 1], ({ reachM }) => reachM < 100, 9).total).toBe(3);
  });

  test('in sight are known after a small move of the map, and not after a large one', () => {
    const around = widened([10, 0, 12, 1]);
    expect(covers(around, [10.9, 0.4, 12.9, 1.4])).toBe(true);
    expect(covers(around, [11.1, 0, 13.1, 1])).toBe(false);
  });

  test('are where they were put last, and gone once they are dropped', () => {
    const index = indexOf(placeAt(0, 0), placeAt(0, 0, { id: 'two' }));
    const idsAt = (x: number) => index.within([x - 1, -1, x + 1, 1], () => true, 9).within.map(({ id }) => id);
    index.put([placeAt(9, 0)]);
    expect([idsAt(0), idsAt(9)]).toEqual([['two'], ['one']]);
    index.drop('one');
    expect([idsAt(9), index.byId.size]).toEqual([[], 1]);
  });
});

describe('the address of the map', () => {
  test('gives the view and the chosen record again', () => {
    const view = { centre: [11.25, 43.77] as const, zoom: 14.5 };
    for (const kind of ['geofence', 'beacon'] as const) {
      const address = { view, selection: { type: 'stored' as const, kind, id: 'a/b' } };
      expect(readAddress(writeAddress(address))).toEqual(address);
    }
    expect(readAddress(writeAddress({ view: { centre: [371.25, 1], zoom: 3 }, selection: undefined })).view).toEqual({
      centre: [11.25, 1],
      zoom: 3,
    });
  });

  test('takes any text, and begins a drawing', () => {
    fc.assert(fc.property(fc.string(), (text) => void readAddress(`?at=${text}&draw=${text}`)));
    expect(readAddress('?at=91,0,3').view).toBeUndefined();
    for (const tool of tools) expect(readAddress(`?draw=${tool}`).selection).toEqual({ type: 'new', tool, turn: 0 });
  });
});
