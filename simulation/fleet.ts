/**
 * The demo's fleet: vans, commuters and shoppers. Pure: positions depend only on the seed and the time.
 *
 * In: a city and the elapsed time. Out: the position of each device, and the fix that it reports.
 */
import { createRandom, type Random } from '../schemas/random.js';
import type { City, CityBeacon, Destinations } from './city.js';
import { along, distanceM, type PlanePoint, toPosition } from './plane.js';
import { routeThroughGrid, routeToAirport } from './streets.js';

type Role = 'van' | 'commuter' | 'shopper';

/** The fields of a track request that change with each report. */
interface Fix {
  readonly latitude: number;
  readonly longitude: number;
  /** Metres. */
  readonly accuracy: number;
  /** Metres a second. */
  readonly speed: number;
  /** Degrees clockwise from north. */
  readonly course: number;
  readonly stopped: boolean;
  readonly foreground: boolean;
  /** Only from devices that range beacons. */
  readonly beacons?: readonly Readonly<Record<string, string | number>>[];
}

/** A simulated device, which moves by its own rules and knows nothing of geofences. */
export interface Device {
  readonly deviceId: string;
  readonly userId: string;
  readonly role: Role;
  /** The true position, without the error of the receiver. */
  readonly position: PlanePoint;
  readonly paused: boolean;
  /** Moves the device forward in time. */
  advance(seconds: number): void;
  fix(): Fix;
}

interface Habits {
  readonly share: number;
  /** Metres a second, from and to. */
  readonly speedMps: readonly [number, number];
  /** Seconds at a destination, from and to. */
  readonly pauseS: readonly [number, number];
  readonly next: (destinations: Destinations, at: PlanePoint, random: Random) => PlanePoint;
}

const nearbyM = 500;
const beaconRangeM = 25;
const airportTripShare = 0.04;

const habits: Record<Role, Habits> = {
  van: {
    share: 0.4,
    speedMps: [5, 9],
    pauseS: [15, 60],
    next: ({ homes, stores }, _at, random) => random.pick(random.chance(0.5) ? stores : homes),
  },
  commuter: {
    share: 0.35,
    speedMps: [8, 13],
    pauseS: [40, 180],
    next: ({ homes, workplaces }, _at, random) => random.pick(random.chance(0.6) ? workplaces : homes),
  },
  shopper: {
    share: 0.25,
    speedMps: [1.1, 1.7],
    pauseS: [20, 90],
    next({ stores, sights }, at, random) {
      const close = stores.filter((store) => distanceM(store, at) < nearbyM);
      return random.pick(close.length > 1 && !random.chance(0.1) ? close : [...stores, ...sights]);
    },
  },
};

/** Creates the fleet with its mix of roles. Each device is already on its way. */
export function createFleet(city: City, count: number, seed = 1): Device[] {
  const random = createRandom(seed);
  const roles: Role[] = ['van', 'commuter', 'shopper'];
  return Array.from({ length: count }, (_, index) => {
    const role = roleAt(index / count, roles);
    const name = `${role}-${String(index + 1).padStart(3, '0')}`;
    return createDevice(name, role, city, createRandom(random.integer(0, 2 ** 31)));
  });
}

/** Returns the role at a place in the fleet, from 0 to 1: vans come first, then commuters, then shoppers. */
function roleAt(place: number, roles: readonly Role[]): Role {
  let upTo = 0;
  for (const role of roles) {
    upTo += habits[role].share;
    if (place < upTo) return role;
  }
  return 'shopper';
}

function createDevice(name: string, role: Role, city: City, random: Random): Device {
  const { speedMps, pauseS, next } = habits[role];
  const startsAt = random.pick(role === 'shopper' ? city.destinations.stores : city.destinations.homes);
  const speed = random.between(...speedMps);
  const ranges = random.chance(role === 'shopper' ? 0.6 : 0.15);
  let route = nextRoute(startsAt);
  let leg = 0;
  let walkedM = 0;
  let pauseLeftS = 0;
  let accuracyM = random.between(5, 20);

  function nextRoute(from: PlanePoint): PlanePoint[] {
    if (role === 'commuter' && random.chance(airportTripShare)) return routeToAirport(from, random);
    const to = next(city.destinations, from, random);
    return routeThroughGrid(from, to, random);
  }

  const legEnds = (): [PlanePoint, PlanePoint] => {
    const from = route[leg] ?? startsAt;
    return [from, route[leg + 1] ?? from];
  };

  function position(): PlanePoint {
    const [from, to] = legEnds();
    const length = distanceM(from, to);
    return length === 0 ? to : along(from, to, Math.min(1, walkedM / length));
  }

  /** Continues with the next leg, or at the destination with a pause and a new route. */
  function turn(): void {
    walkedM = 0;
    leg += 1;
    if (leg < route.length - 1) return;
    pauseLeftS = random.between(...pauseS);
    route = nextRoute(route.at(-1) ?? startsAt);
    leg = 0;
  }

  function advance(seconds: number): void {
    let left = seconds;
    while (left > 0) {
      const rested = Math.min(left, pauseLeftS);
      pauseLeftS -= rested;
      left -= rested;
      if (left === 0) return;
      const [from, to] = legEnds();
      const toCornerM = distanceM(from, to) - walkedM;
      const walked = Math.min(toCornerM, left * speed);
      walkedM += walked;
      left -= walked / speed;
      if (walked >= toCornerM) turn();
    }
  }

  function fix(): Fix {
    const at = position();
    const paused = pauseLeftS > 0;
    // Accuracy varies with the buildings around. The true error is about half of the reported accuracy.
    accuracyM = Math.min(50, Math.max(5, accuracyM + random.normal() * 3));
    const [longitude, latitude] = toPosition({
      x: at.x + (random.normal() * accuracyM) / 3,
      y: at.y + (random.normal() * accuracyM) / 3,
    });
    const [from, to] = legEnds();
    return {
      latitude,
      longitude,
      accuracy: Math.round(accuracyM),
      speed: paused ? 0 : speed,
      course: Math.round(((Math.atan2(to.x - from.x, to.y - from.y) * 180) / Math.PI + 360) % 360),
      stopped: paused,
      foreground: role !== 'commuter',
      ...(ranges && { beacons: heard(at, city.beacons) }),
    };
  }

  const device: Device = {
    deviceId: name,
    userId: `${name}@example.com`,
    role,
    get position() {
      return position();
    },
    get paused() {
      return pauseLeftS > 0;
    },
    advance,
    fix,
  };
  // Spreads the devices along their routes.
  advance(random.between(0, 300));
  return device;
}

/** Returns beacons in radio range, with a signal strength that falls with distance. */
const heard = (at: PlanePoint, beacons: readonly CityBeacon[]) =>
  beacons
    .filter((beacon) => distanceM(beacon.at, at) <= beaconRangeM)
    .map((beacon) => ({ ...beacon.ranged, rssi: Math.round(-55 - distanceM(beacon.at, at)) }));
