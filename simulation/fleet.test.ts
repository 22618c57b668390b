import { beforeEach, describe, expect, it } from 'vitest';
import { createRandom } from '../schemas/random.js';
import { buildCity } from './city.js';
import { createFleet, type Device } from './fleet.js';
import { distanceM, type PlanePoint, rotated, toPlane } from './plane.js';
import { gridTurnRad, routeThroughGrid } from './streets.js';

const city = buildCity();
const seconds = 120;
let fleet: Device[];

beforeEach(() => {
  fleet = createFleet(city, 100, 7);
});

describe('the fleet', () => {
  it('drives the same way for any division of the time', () => {
    const inOneGo = createFleet(city, 100, 7);
    for (const device of inOneGo) device.advance(seconds);
    for (const device of fleet) for (let second = 0; second < seconds; second += 1) device.advance(1);
    for (const [index, device] of fleet.entries()) {
      expect(distanceM(device.position, (inOneGo[index] as Device).position)).toBeLessThan(0.001);
    }
  });

  it('never moves faster than its vehicles', () => {
    for (const device of fleet) {
      for (let second = 0; second < seconds; second += 1) {
        const before = device.position;
        device.advance(1);
        expect(distanceM(before, device.position)).toBeLessThan(13.001);
      }
    }
  });

  it('mixes roles; most devices move and some pause', () => {
    const starts = fleet.map((device) => device.position);
    for (const device of fleet) device.advance(seconds);
    const moved = fleet.filter((device, index) => distanceM(device.position, starts[index] as PlanePoint) > 20);
    expect(moved.length).toBeGreaterThan(50);
    expect(fleet.some((device) => device.paused)).toBe(true);
    expect(new Set(fleet.map((device) => device.role)).size).toBe(3);
    expect(new Set(fleet.map((device) => device.deviceId)).size).toBe(fleet.length);
  });

  it('reports fixes near the truth, with an accuracy of 5 to 50 metres', () => {
    for (const device of fleet) {
      const { latitude, longitude, accuracy, course } = device.fix();
      expect(accuracy).toBeGreaterThanOrEqual(5);
      expect(accuracy).toBeLessThanOrEqual(50);
      expect(course).toBeGreaterThanOrEqual(0);
      expect(course).toBeLessThanOrEqual(360);
      expect(distanceM(toPlane([longitude, latitude]), device.position)).toBeLessThan(3 * accuracy);
    }
  });

  it('ranges a nearby beacon', () => {
    for (let second = 0; second < 600; second += 5) for (const device of fleet) device.advance(5);
    const heard = fleet.flatMap((device) => device.fix().beacons ?? []);
    expect(heard.length).toBeGreaterThan(0);
  });
});

describe('a route', () => {
  it('follows the grid from end to end, with right angles', () => {
    const random = createRandom(3);
    const { homes, stores } = city.destinations;
    for (let trip = 0; trip < 200; trip += 1) {
      const [from, to] = [random.pick(homes), random.pick(stores)];
      const route = routeThroughGrid(from, to, random);
      expect(distanceM(route[0] as PlanePoint, from)).toBe(0);
      expect(distanceM(route.at(-1) as PlanePoint, to)).toBeLessThan(0.001);
      const turnRad = gridTurnRad({ x: (from.x + to.x) / 2, y: (from.y + to.y) / 2 });
      for (const [index, corner] of route.slice(1).entries()) {
        const before = route[index] as PlanePoint;
        const leg = rotated({ x: corner.x - before.x, y: corner.y - before.y }, -turnRad);
        expect(Math.min(Math.abs(leg.x), Math.abs(leg.y))).toBeLessThan(0.001);
      }
    }
  });
});
