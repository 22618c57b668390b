import { describe, expect, it } from 'vitest';
import type { Position } from '../schemas/json/common.js';
import { buildCity } from './city.js';
import { distanceM, toPlane, toPosition } from './plane.js';

const city = buildCity();

describe('the city', () => {
  it('is the same every time', () => {
    expect(buildCity()).toEqual(city);
  });

  it('has a few hundred geofences and beacons, each with a unique tag and external id', () => {
    for (const [resources, least] of [
      [city.geofences, 300],
      [city.beacons, 100],
    ] as const) {
      expect(resources.length).toBeGreaterThan(least);
      expect(new Set(resources.map(({ tag, externalId }) => `${tag}/${externalId}`)).size).toBe(resources.length);
    }
  });

  it('has valid geofences', () => {
    for (const { fields } of city.geofences) {
      if (fields.type === 'circle') {
        expect(fields.radius).toBeGreaterThanOrEqual(10);
        expect(fields.radius).toBeLessThanOrEqual(10_000);
      } else {
        const ring = fields.coordinates as Position[];
        expect(ring.length).toBeGreaterThanOrEqual(4);
        expect(ring.at(-1)).toEqual(ring[0]);
      }
    }
  });

  it('gives every beacon unique identifiers', () => {
    expect(new Set(city.beacons.map(({ ranged }) => JSON.stringify(ranged))).size).toBe(city.beacons.length);
  });

  it('lies on the peninsula', () => {
    const { homes, stores, workplaces, sights, airport } = city.destinations;
    for (const [longitude, latitude] of [...homes, ...stores, ...workplaces, ...sights, airport].map(toPosition)) {
      expect(longitude).toBeGreaterThan(-122.52);
      expect(longitude).toBeLessThan(-122.35);
      expect(latitude).toBeGreaterThan(37.6);
      expect(latitude).toBeLessThan(37.82);
    }
  });
});

describe('the plane', () => {
  it('converts a position to the plane and back', () => {
    const ferryBuilding: Position = [-122.3937, 37.7955];
    expect(toPosition(toPlane(ferryBuilding))).toEqual(ferryBuilding);
  });

  it('measures Market Street as about three miles', () => {
    expect(distanceM(toPlane([-122.4351, 37.7623]), toPlane([-122.3937, 37.7955]))).toBeCloseTo(5180, -2);
  });
});
