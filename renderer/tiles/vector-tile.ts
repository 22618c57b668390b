/**
 * Vector tiles, decoded as far as drawing needs them.
 *
 * Flows in: the bytes of a tile (Mapbox Vector Tile specification 2.1). Flows out: its layers with their features,
 * indexed once; a feature's properties and coordinates are read when they are first asked for. Nothing is made per
 * vertex but two numbers.
 */

import { PbfReader } from 'pbf';
import type { PixelBox } from '../types.js';
import { boxOf, type Coordinates, Integers, readCoordinates } from './coordinates.js';
import { kindsOf } from './kinds.js';

/** As in the specification: 1 point, 2 line, 3 polygon. */
export type GeometryType = 0 | 1 | 2 | 3;
export const point = 1;
export const line = 2;
export const polygon = 3;

type Value = string | number | boolean;
export type Properties = Readonly<Record<string, Value>>;

/** A tile's layers by name. */
export interface VectorTile {
  readonly layers: ReadonlyMap<string, TileLayer>;
  /** An estimate of what it takes in memory with all its properties read, in bytes. */
  readonly weightBytes: number;
}

export class TileLayer {
  private readonly kindsByKeys = new Map<string, Int32Array>();

  constructor(
    readonly name: string,
    /** Tile units of the tile's width. */
    readonly extent: number,
    readonly features: readonly TileFeature[],
    private readonly keys: readonly string[],
    private readonly valueCount: number,
  ) {}

  /**
   * For each feature a number. Those that have the same one are of one type, with the same values under these names.
   */
  kinds(names: ReadonlySet<string>): Int32Array {
    const chosen = Uint8Array.from(this.keys, (key) => (names.has(key) ? 1 : 0));
    const cacheKey = chosen.join('');
    let kinds = this.kindsByKeys.get(cacheKey);
    if (!kinds) {
      kinds = kindsOf(this.features, chosen, this.valueCount);
      if (this.kindsByKeys.size >= maxKinds) this.kindsByKeys.clear();
      this.kindsByKeys.set(cacheKey, kinds);
    }
    return kinds;
  }
}

/** Sets of names for which a layer remembers its features' kinds: styles have a few, and uploaded ones come and go. */
const maxKinds = 16;

/** What features of one layer share. */
interface Tables {
  readonly bytes: Uint8Array;
  readonly keys: string[];
  readonly values: Value[];
}

/** Makes objects that have no other names than those given to them, and are still fast to read. */
function PropertyBag() {}
PropertyBag.prototype = Object.create(null);
const EmptyBag = PropertyBag as unknown as new () => Record<string, Value>;

/** Its `type`, `id` and `properties` are what the style's expressions read. */
export class TileFeature {
  type: GeometryType = 0;
  id: number | undefined;
  private tagsStart = 0;
  private tagsEnd = 0;
  private geometryStart = 0;
  private geometryEnd = 0;
  private read: Properties | undefined;
  private bounds: PixelBox | undefined;

  constructor(
    private readonly tables: Tables,
    /** Its place in the layer's features. */
    readonly order: number,
    reader: PbfReader,
    end: number,
  ) {
    while (reader.pos < end) {
      const tag = reader.readVarint();
      if (tag === 8) this.id = reader.readVarint();
      else if (tag === 24) this.type = (reader.readVarint() & 3) as GeometryType;
      else if (tag === 18) {
        this.tagsEnd = endOfMessage(reader, end);
        this.tagsStart = reader.pos;
        reader.pos = this.tagsEnd;
      } else if (tag === 34) {
        this.geometryEnd = endOfMessage(reader, end);
        this.geometryStart = reader.pos;
        reader.pos = this.geometryEnd;
      } else reader.skip(tag);
    }
  }

  get properties(): Properties {
    this.read ??= this.readProperties();
    return this.read;
  }

  /** The box around all vertices, in tile units. Empty (inside out) without a vertex. */
  get box(): PixelBox {
    this.bounds ??= boxOf(this.coordinates().xy);
    return this.bounds;
  }

  /** At least as many as there are vertices: each takes two bytes or more. */
  get maxVertices(): number {
    return (this.geometryEnd - this.geometryStart) >> 1;
  }

  /** Read anew each time; what follows a command that the specification doesn't know is left out. */
  coordinates(): Coordinates {
    return readCoordinates(this.tables.bytes, this.geometryStart, this.geometryEnd);
  }

  /** The numbers of its keys and values, in turn. */
  tags(): Integers {
    return new Integers(this.tables.bytes, this.tagsStart, this.tagsEnd);
  }

  private readProperties(): Properties {
    const { keys, values } = this.tables;
    const properties = new EmptyBag();
    const tags = this.tags();
    while (!tags.done) {
      const key = keys[tags.next()];
      const value = values[tags.next()];
      if (key !== undefined && value !== undefined) properties[key] = value;
    }
    return properties;
  }
}

/** Bytes that a feature takes beside those of its tile. */
const featureWeightBytes = 400;

/** Reads a tile. Throws when the bytes are no vector tile. */
export function decodeVectorTile(bytes: Uint8Array): VectorTile {
  const reader = new PbfReader(bytes);
  const layers = new Map<string, TileLayer>();
  let features = 0;
  while (reader.pos < bytes.length) {
    const tag = reader.readVarint();
    if (tag === 26) {
      const layer = readLayer(reader, endOfMessage(reader, bytes.length));
      layers.set(layer.name, layer);
      features += layer.features.length;
    } else reader.skip(tag);
  }
  return { layers, weightBytes: 2 * bytes.length + featureWeightBytes * features };
}

/** Reads a message's length. Throws when the message goes on beyond what it is a part of. */
function endOfMessage(reader: PbfReader, outerEnd: number): number {
  const length = reader.readVarint();
  if (reader.pos + length > outerEnd) throw new RangeError('A part of the tile is longer than the whole');
  return reader.pos + length;
}

function readLayer(reader: PbfReader, end: number): TileLayer {
  const tables: Tables = { bytes: reader.buf, keys: [], values: [] };
  const features: TileFeature[] = [];
  let name = '';
  let extent = 4096;
  while (reader.pos < end) {
    const tag = reader.readVarint();
    if (tag === 10) name = reader.readString();
    else if (tag === 18) features.push(new TileFeature(tables, features.length, reader, endOfMessage(reader, end)));
    else if (tag === 26) tables.keys.push(reader.readString());
    else if (tag === 34) tables.values.push(readValue(reader, endOfMessage(reader, end)));
    else if (tag === 40) extent = reader.readVarint();
    else reader.skip(tag);
  }
  return new TileLayer(name, extent, features, tables.keys, tables.values.length);
}

function readValue(reader: PbfReader, end: number): Value {
  let value: Value = '';
  while (reader.pos < end) {
    const tag = reader.readVarint();
    if (tag === 10) value = reader.readString();
    else if (tag === 21) value = reader.readFloat();
    else if (tag === 25) value = reader.readDouble();
    else if (tag === 32) value = reader.readVarint(true);
    else if (tag === 40) value = reader.readVarint();
    else if (tag === 48) value = reader.readSVarint();
    else if (tag === 56) value = reader.readBoolean();
    else reader.skip(tag);
  }
  return value;
}
