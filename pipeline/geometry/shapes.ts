/**
 * The geometry of fences. Input: circles and unwrapped rings (degrees and metres), points with an accuracy. Output:
 * boxes, zones, shares and signed distances. Pure; imports only `schemas/`.
 *
 * Distances are on WGS84. A polygon's edges are straight in longitude and latitude (RFC 7946). A point on the boundary
 * is inside. Queries have longitudes from -180 to 180; rings that cross the antimeridian are compared in their own
 * frame.
 */
import { Arena } from './arena.js';
import { edgeInReach, nearestEdge } from './boundary.js';
import { contains } from './containment.js';
import { boundsOf, boxRuns, type Ring, ringOf } from './edges.js';
import { shareInCircle, shareInRing } from './overlap.js';
import { nearestPolarEdge, projectRing } from './polar.js';
import { distance, latitudeReach, latitudeScale, longitudeReach, longitudeScale, polarLatitude } from './scale.js';
import { Zone, zoneOf } from './zone.js';

/** Twice a box's area, plus a margin for rounding: the box fills less than half of a larger disc. */
const halfMargin = 2.001;
/** A smaller disc is a point: positions in degrees are less exact, and the square of its radius may be 0. */
const leastDiscM = 1e-6;
const freed = -1;
const noRow = -1;
const initialRows = 16;

/** Stores the shapes of a set of fences as packed numbers. A row is a small integer that identifies a shape. */
export class ShapeTable {
  private capacity = initialRows;
  /** Four per row. Circle: longitude, latitude, radius in metres, unused. Polygon: minX, minY, maxX, maxY. */
  private numbers = new Float64Array(4 * initialRows);
  /** Per row: number of vertices of a polygon, 0 for a circle, -1 if the row is free. */
  private counts = new Int32Array(initialRows).fill(freed);
  /** Per row: the address of a polygon's coordinates and boxes, or the next free row if the row is free. */
  private addresses = new Int32Array(initialRows);
  private readonly arena = new Arena((row, address) => {
    this.addresses[row] = address;
  });
  private firstFree = noRow;
  private usedRows = 0;
  /** A view of the current polygon, which every call sets. */
  private readonly ring: Ring = {
    points: new Float64Array(0),
    first: 0,
    count: 0,
    minX: 0,
    minY: 0,
    maxX: 0,
    maxY: 0,
    boxes: new Uint16Array(0),
    boxesAt: 0,
  };

  /** Adds a circle and returns its row. Coordinates are in degrees. */
  addCircle(longitude: number, latitude: number, radiusM: number): number {
    const row = this.takeRow();
    this.counts[row] = 0;
    setFour(this.numbers, 4 * row, longitude, latitude, radiusM, 0);
    return row;
  }

  /** Adds a polygon. Copies `unwrapped`, a valid ring as in {@link NormalRing}. */
  addPolygon(unwrapped: Float64Array): number {
    const row = this.takeRow();
    const box = boundsOf(unwrapped);
    const boxes = boxRuns(unwrapped, box);
    const address = this.arena.allocate(row, unwrapped.length + boxes.length / 4);
    const first = this.arena.offset(address);
    this.arena.doubles(address).set(unwrapped, first);
    this.arena.shorts(address).set(boxes, 4 * (first + unwrapped.length));
    this.counts[row] = unwrapped.length / 2;
    this.addresses[row] = address;
    setFour(this.numbers, 4 * row, ...box);
    return row;
  }

  /** Removes the shape of a row, which the next shape may get. Throws a RangeError if it has none. */
  remove(row: number): void {
    const count = this.counts[row];
    if (count === undefined || count === freed) throw new RangeError(`there is no shape in row ${row}`);
    if (count > 0) this.arena.free(this.addresses[row]!);
    this.counts[row] = freed;
    this.addresses[row] = this.firstFree;
    this.firstFree = row;
  }

  /**
   * Writes a box [minX, minY, maxX, maxY] in degrees that contains, modulo 360, all points with d >= 0. For a polygon
   * it is the exact box of its coordinates. It may exceed ±180; a circle that contains a pole has all longitudes.
   */
  box(row: number, target: Float64Array): void {
    const at = 4 * row;
    const numbers = this.numbers;
    if (this.counts[row] !== 0) {
      setFour(target, 0, numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!);
      return;
    }
    const [longitude, latitude, radiusM] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
    const reachX = longitudeReach(latitude, radiusM);
    const reachY = latitudeReach(radiusM);
    const south = Math.max(-90, latitude - reachY);
    const north = Math.min(90, latitude + reachY);
    setFour(target, 0, longitude - reachX, south, longitude + reachX, north);
  }

  /** Returns the relation of the disc of radius `accuracyM` around the point to the fence. */
  zone(row: number, longitude: number, latitude: number, accuracyM: number): Zone {
    if (this.counts[row] === 0) return zoneOf(this.circleDistance(row, longitude, latitude), accuracyM);
    const x = this.inFrame(row, longitude);
    const zone = this.polygonZone(row, x, latitude, accuracyM);
    if (!this.isWide(row)) return zone;
    const other = this.polygonZone(row, this.inOtherFrame(row, x), latitude, accuracyM);
    return Math.max(zone, other) as Zone;
  }

  /**
   * Returns f, the share of the disc of radius `accuracyM` around the point that is inside the fence, 0 to 1. For a
   * radius below {@link leastDiscM} it is 1 if the point is inside.
   */
  share(row: number, longitude: number, latitude: number, accuracyM: number): number {
    const numbers = this.numbers;
    const discM = accuracyM < leastDiscM ? 0 : accuracyM;
    if (this.counts[row] === 0) {
      const distanceM = distance(longitude, latitude, numbers[4 * row]!, numbers[4 * row + 1]!);
      return shareInCircle(distanceM, numbers[4 * row + 2]!, discM);
    }
    const x = this.inFrame(row, longitude);
    const share = this.polygonShare(row, x, latitude, discM);
    if (!this.isWide(row) || isPolar(latitude)) return share;
    return Math.min(1, share + this.polygonShare(row, this.inOtherFrame(row, x), latitude, discM));
  }

  /** Tests whether f is at least one half. Reads no edges if the disc is much larger than the polygon. */
  holdsHalf(row: number, longitude: number, latitude: number, accuracyM: number): boolean {
    if (this.counts[row]! > 0 && !isPolar(latitude) && !this.isWide(row)) {
      const at = 4 * row;
      const widthM = (this.numbers[at + 2]! - this.numbers[at]!) * longitudeScale(latitude);
      const heightM = (this.numbers[at + 3]! - this.numbers[at + 1]!) * latitudeScale(latitude);
      if (halfMargin * widthM * heightM < Math.PI * accuracyM * accuracyM) return false;
    }
    return this.share(row, longitude, latitude, accuracyM) >= 0.5;
  }

  /**
   * Returns d, the distance to the boundary in metres: 0 or more inside and on it, negative outside. Reads every edge.
   */
  signedDistance(row: number, longitude: number, latitude: number): number {
    if (this.counts[row] === 0) return this.circleDistance(row, longitude, latitude);
    const x = this.inFrame(row, longitude);
    const distanceM = this.polygonDistance(row, x, latitude);
    if (!this.isWide(row)) return distanceM;
    return Math.max(distanceM, this.polygonDistance(row, this.inOtherFrame(row, x), latitude));
  }

  /** Returns the memory in use, in bytes. */
  bytes(): number {
    return this.numbers.byteLength + this.counts.byteLength + this.addresses.byteLength + this.arena.bytes();
  }

  private circleDistance(row: number, longitude: number, latitude: number): number {
    const at = 4 * row;
    const numbers = this.numbers;
    return numbers[at + 2]! - distance(longitude, latitude, numbers[at]!, numbers[at + 1]!);
  }

  /** Returns the zone. `x` is the longitude in the ring's frame. Makes the cheapest tests first. */
  private polygonZone(row: number, x: number, latitude: number, accuracyM: number): Zone {
    const at = 4 * row;
    const numbers = this.numbers;
    const reachY = latitudeReach(accuracyM);
    if (latitude < numbers[at + 1]! - reachY || latitude > numbers[at + 3]! + reachY) return Zone.apart;
    const aside = Math.max(numbers[at]! - x, x - numbers[at + 2]!);
    if (aside > 0 && aside > longitudeReach(latitude, accuracyM)) return Zone.apart;
    if (isPolar(latitude)) return zoneOf(this.polygonDistance(row, x, latitude), accuracyM);

    const ring = this.look(row);
    const inside = contains(ring, x, latitude);
    if (accuracyM === 0) return inside ? Zone.within : Zone.apart;
    return zoneOf(signed(inside, edgeInReach(ring, x, latitude, accuracyM)), accuracyM);
  }

  private polygonDistance(row: number, x: number, latitude: number): number {
    const ring = this.look(row);
    const nearestM = isPolar(latitude) ? nearestPolarEdge(ring, x, latitude) : nearestEdge(ring, x, latitude);
    return signed(contains(ring, x, latitude), nearestM);
  }

  private polygonShare(row: number, x: number, latitude: number, accuracyM: number): number {
    const ring = this.look(row);
    if (accuracyM === 0) return contains(ring, x, latitude) ? 1 : 0;
    if (isPolar(latitude)) {
      return shareInRing(ringOf(projectRing(ring, x, latitude, accuracyM)), 0, 0, 1, 1, accuracyM);
    }
    return shareInRing(ring, x, latitude, longitudeScale(latitude), latitudeScale(latitude), accuracyM);
  }

  /** Returns the longitude within 180 degrees of the middle of the ring's box. */
  private inFrame(row: number, longitude: number): number {
    const aside = longitude - (this.numbers[4 * row]! + this.numbers[4 * row + 2]!) / 2;
    return aside > 180 ? longitude - 360 : aside < -180 ? longitude + 360 : longitude;
  }

  /** A ring wider than 180 degrees may be reached from both sides, so both frames are tested. */
  private isWide(row: number): boolean {
    return this.numbers[4 * row + 2]! - this.numbers[4 * row]! > 180;
  }

  private inOtherFrame(row: number, x: number): number {
    return x > (this.numbers[4 * row]! + this.numbers[4 * row + 2]!) / 2 ? x - 360 : x + 360;
  }

  private look(row: number): Ring {
    const { ring, numbers, arena } = this;
    const address = this.addresses[row]!;
    const count = this.counts[row]!;
    const first = arena.offset(address);
    ring.points = arena.doubles(address);
    ring.first = first;
    ring.count = count;
    ring.minX = numbers[4 * row]!;
    ring.minY = numbers[4 * row + 1]!;
    ring.maxX = numbers[4 * row + 2]!;
    ring.maxY = numbers[4 * row + 3]!;
    ring.boxes = arena.shorts(address);
    ring.boxesAt = 4 * (first + 2 * count);
    return ring;
  }

  private takeRow(): number {
    if (this.firstFree === noRow) {
      if (this.usedRows === this.capacity) this.grow();
      return this.usedRows++;
    }
    const row = this.firstFree;
    this.firstFree = this.addresses[row]!;
    return row;
  }

  private grow(): void {
    this.capacity *= 2;
    const { numbers, counts, addresses } = this;
    this.numbers = new Float64Array(4 * this.capacity);
    this.numbers.set(numbers);
    this.counts = new Int32Array(this.capacity).fill(freed);
    this.counts.set(counts);
    this.addresses = new Int32Array(this.capacity);
    this.addresses.set(addresses);
  }
}

/** A distance of 0 outside is a rounding error: the sign must distinguish inside from outside. */
const signed = (inside: boolean, distanceM: number): number =>
  inside ? distanceM : -Math.max(distanceM, Number.MIN_VALUE);

const isPolar = (latitude: number): boolean => latitude > polarLatitude || latitude < -polarLatitude;

function setFour(target: Float64Array, at: number, a: number, b: number, c: number, d: number): void {
  target[at] = a;
  target[at + 1] = b;
  target[at + 2] = c;
  target[at + 3] = d;
}
