/**
 * Decodes vector tiles, as far as drawing needs them.
 *
 * Input: the bytes of a tile (Mapbox Vector Tile specification 2.1). Output: its layers and features, indexed once.
 * Properties and coordinates of a feature are read when they are first needed, with two numbers per vertex. A layer
 * with more than can be drawn in time is cut: its first features are kept.
 */

import { PbfReader } from 'pbf';
import type { PixelBox } from '../types.js';
import { type Coordinates, detailOf, Integers, readBox, readCoordinates, vertexPx } from './coordinates.js';
import { Kinds } from './kinds.js';

/** Geometry types of the specification: 1 point, 2 line, 3 polygon. */
export type GeometryType = 0 | 1 | 2 | 3;
export const point = 1;
export const line = 2;
export const polygon = 3;

type Value = string | number | boolean;
export type Properties = Readonly<Record<string, Value>>;

/** A tile's layers by name. */
export interface VectorTile {
  readonly layers: ReadonlyMap<string, TileLayer>;
  /** Names of layers whose last features are left out. */
  readonly cutLayers: readonly string[];
  /** Estimated memory in bytes, with all properties read. */
  readonly weightBytes: number;
}

export class TileLayer {
  private readonly kindsByKeys = new Map<string, Kinds>();

  constructor(
    readonly name: string,
    /** Width of the tile in tile units. */
    readonly extent: number,
    readonly features: readonly TileFeature[],
    private readonly keys: readonly string[],
    private readonly valueCount: number,
  ) {}

  /** Estimated memory in bytes beside the bytes of the tile, with all properties read. */
  get weightBytes(): number {
    const entries = this.keys.length + this.valueCount;
    return layerWeightBytes + entryWeightBytes * entries + featureWeightBytes * this.features.length;
  }

  /** Returns numbers that are equal for features of one type with the same values of these properties. */
  kinds(names: ReadonlySet<string>): Kinds {
    const chosen: number[] = [];
    for (const [number, key] of this.keys.entries()) if (names.has(key)) chosen.push(number);
    const cacheKey = chosen.join();
    let kinds = this.kindsByKeys.get(cacheKey);
    if (!kinds) {
      kinds = new Kinds(this.features.length, chosen, this.keys.length, this.valueCount);
      if (this.kindsByKeys.size >= maxKinds) this.kindsByKeys.clear();
      this.kindsByKeys.set(cacheKey, kinds);
    }
    return kinds;
  }
}

/** Maximum cached sets of names. Built-in styles have a few; uploaded styles come and go. */
const maxKinds = 16;

/** The position of a tile in the world: its zoom, column and row. */
export interface TileId {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** Data shared by the features of a layer. */
interface Tables {
  readonly bytes: Uint8Array;
  readonly keys: string[];
  readonly values: Value[];
  readonly id: TileId | undefined;
  extent: number;
}

/** Width of a tile in the units in which expressions read geometry. */
const expressionExtent = 8192;

/** Creates objects without inherited names that are still fast to read. */
function PropertyBag() {}
PropertyBag.prototype = Object.create(null);
const EmptyBag = PropertyBag as unknown as new () => Record<string, Value>;

/** A feature. Style expressions read its `type`, `id` and `properties`; `within` and `distance` its `geometry`. */
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
    /** Index in the layer's features. */
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

  /** The position of the tile. Undefined for tiles that are not drawn. */
  get tileId(): TileId | undefined {
    return this.tables.id;
  }

  /** Reads parts as style expressions have them, each time: 8192 units a tile, rings that end where they begin. */
  get geometry(): { readonly x: number; readonly y: number }[][] {
    const { xy, ends } = this.coordinates();
    const factor = expressionExtent / this.tables.extent;
    return ends.map((end, part) => {
      const points = [];
      for (let i = ends[part - 1] ?? 0; i < end; i += 2)
        points.push({ x: Math.round(xy[i]! * factor), y: Math.round(xy[i + 1]! * factor) });
      return this.type === polygon ? [...points, points[0]!] : points;
    });
  }

  /** Bounding box of all vertices, in tile units. Empty (inside out) without a vertex. */
  get box(): PixelBox {
    this.bounds ??= readBox(this.tables.bytes, this.geometryStart, this.geometryEnd);
    return this.bounds;
  }

  /** Upper bound of the number of vertices: each takes at least two bytes. */
  get maxVertices(): number {
    return (this.geometryEnd - this.geometryStart) >> 1;
  }

  /**
   * Returns what the feature costs to draw, in pixels of {@link detailOf}. Returns Infinity if that exceeds `mostPx`:
   * then only the vertices that fit are kept.
   */
  limit(mostPx: number): number {
    const { bytes, extent } = this.tables;
    const { end, detailPx } = detailOf(bytes, this.geometryStart, this.geometryEnd, extent, mostPx - featurePx);
    const isCut = end < this.geometryEnd;
    this.geometryEnd = end;
    return isCut ? Infinity : featurePx + detailPx;
  }

  /** Reads the coordinates each time. Everything after an unknown command is ignored. */
  coordinates(): Coordinates {
    return readCoordinates(this.tables.bytes, this.geometryStart, this.geometryEnd);
  }

  /** Alternating numbers of keys and values. */
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

const defaultExtent = 4096;

/** Bytes of a feature, of a key or value, and of a layer, beside those of the tile. */
const featureWeightBytes = 400;
const entryWeightBytes = 24;
const layerWeightBytes = 500;

/** Archives have a few dozen. Each layer takes memory, however short it is in the tile. */
const maxLayers = 1_000;

/** What a feature costs to draw beside its vertices, in pixels of {@link detailOf}. */
const featurePx = 16;
/**
 * Limits what is drawn of a layer of a tile: 250,000 points, or 11,000 lines across the tile. With either, no pixel is
 * left to see. Drawing takes about a second of a processor for each layer of a style.
 */
const maxLayerPx = 6_000_000;
/** Limits the features of all layers, which take memory even if no style draws them: twice a full layer of points. */
const maxTileFeatures = (2 * maxLayerPx) / (featurePx + vertexPx);
/** Layers with fewer bytes are not measured. */
const maxUnmeasuredBytes = 16_384;

/**
 * Reads a tile. Throws when the bytes are not a vector tile, or have too many layers. Expressions with a position need
 * its `id`.
 */
export function decodeVectorTile(bytes: Uint8Array, id?: TileId): VectorTile {
  const reader = new PbfReader(bytes);
  const layers = new Map<string, TileLayer>();
  const cutLayers: string[] = [];
  let features = 0;
  let layerCount = 0;
  let weightBytes = 2 * bytes.length;
  while (reader.pos < bytes.length) {
    const tag = reader.readVarint();
    if (tag === 26) {
      const { layer, isCut } = readLayer(reader, endOfMessage(reader, bytes.length), id, maxTileFeatures - features);
      layers.set(layer.name, layer);
      layerCount += 1;
      if (layerCount > maxLayers) throw new RangeError(`The tile has more than ${maxLayers} layers`);
      weightBytes += layer.weightBytes;
      if (isCut) cutLayers.push(layer.name);
      features += layer.features.length;
    } else reader.skip(tag);
  }
  return { layers, cutLayers, weightBytes };
}

/** Reads a message's length. Throws when the message exceeds its parent. */
function endOfMessage(reader: PbfReader, outerEnd: number): number {
  const length = reader.readVarint();
  if (reader.pos + length > outerEnd) throw new RangeError('A part of the tile is longer than the whole');
  return reader.pos + length;
}

function readLayer(reader: PbfReader, end: number, id: TileId | undefined, maxFeatures: number) {
  const isMeasured = end - reader.pos > maxUnmeasuredBytes;
  const tables: Tables = { bytes: reader.buf, keys: [], values: [], id, extent: defaultExtent };
  const features: TileFeature[] = [];
  let isFull = false;
  let name = '';
  while (reader.pos < end) {
    const tag = reader.readVarint();
    if (tag === 10) name = reader.readString();
    else if (tag === 18) {
      const featureEnd = endOfMessage(reader, end);
      isFull ||= features.length >= maxFeatures;
      if (isFull) reader.pos = featureEnd;
      else features.push(new TileFeature(tables, features.length, reader, featureEnd));
    } else if (tag === 26) tables.keys.push(reader.readString());
    else if (tag === 34) tables.values.push(readValue(reader, endOfMessage(reader, end)));
    else if (tag === 40) tables.extent = reader.readVarint();
    else reader.skip(tag);
  }
  const count = isMeasured ? limited(features) : undefined;
  const drawn = features.slice(0, count);
  const isCut = isFull || count !== undefined;
  return { layer: new TileLayer(name, tables.extent, drawn, tables.keys, tables.values.length), isCut };
}

/** Cuts the feature that exceeds the limit of its layer. If there is one, returns the number of features left. */
function limited(features: readonly TileFeature[]): number | undefined {
  let leftPx = maxLayerPx;
  for (const feature of features) {
    leftPx -= feature.limit(leftPx);
    if (leftPx < 0) return feature.order + (feature.maxVertices > 0 ? 1 : 0);
  }
  return undefined;
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
