/**
 * Decodes vector tiles, as far as drawing needs them.
 *
 * Input: the bytes of a tile (Mapbox Vector Tile specification 2.1). Output: its layers, with the place and the box of
 * each feature. A feature is read when it is first needed, because a map shows a part of a tile. So are its properties
 * and its coordinates, with two numbers per vertex. A layer with more than can be drawn in time is cut: its first
 * features are kept.
 */
import { PbfReader } from 'pbf';
import type { PixelBox } from '../types.js';
import { type Boxes, type Cell, cellsOf } from './cells.js';
import { type Coordinates, Detail, Integers, overlaps, readCoordinates, TileBox, vertexPx } from './coordinates.js';
import { Kinds } from './kinds.js';

/** Geometry types of the specification: 1 point, 2 line, 3 polygon. */
export type GeometryType = 0 | 1 | 2 | 3;
/** Type of features that are points (Mapbox Vector Tile specification 2.1, section 4.3.4). */
export const point = 1;
/** Type of features that are lines. */
export const line = 2;
/** Type of features that are areas. */
export const polygon = 3;

type Value = string | number | boolean;
/** The properties of a feature by name. Values keep the types of the tile. */
export type Properties = Readonly<Record<string, Value>>;

/** A tile's layers by name. */
export interface VectorTile {
  readonly layers: ReadonlyMap<string, TileLayer>;
  /** Names of layers whose last features are left out. */
  readonly cutLayers: readonly string[];
  /** Estimated memory in bytes, with all properties read. */
  readonly weightBytes: number;
}

/** Where the messages of a layer's features are in the tile: first byte, end, and end of the geometry. */
type Spans = Int32Array;

/** One layer of a tile. */
export class TileLayer {
  private readonly kindsByKeys = new Map<string, Kinds>();
  /** Features by index, as far as they were read. */
  private readonly read: (TileFeature | undefined)[];
  private all: readonly TileFeature[] | undefined;
  private divided: readonly Cell[] | undefined;

  constructor(
    readonly name: string,
    private readonly tables: Tables,
    private readonly spans: Spans,
    private readonly boxes: Boxes,
  ) {
    // With its length, because V8 makes a hash table of a list that is filled from its middle.
    this.read = new Array(this.size);
  }

  /** Width of the tile in tile units. */
  get extent(): number {
    return this.tables.extent;
  }

  /** Number of features. */
  get size(): number {
    return this.boxes.length / 4;
  }

  /** All features, in the tile's order. */
  get features(): readonly TileFeature[] {
    if (!this.all) {
      const all: TileFeature[] = [];
      for (let order = 0; order < this.size; order++) all.push(this.feature(order));
      this.all = all;
    }
    return this.all;
  }

  /** All features, divided by where they lie. */
  get cells(): readonly Cell[] {
    this.divided ??= cellsOf(this.boxes, this.extent);
    return this.divided;
  }

  /** Returns the indices of the cells whose boxes overlap `near`, in tile units. */
  cellsNear(near: PixelBox): number[] {
    const { cells } = this;
    const found: number[] = [];
    for (let index = 0; index < cells.length; index++) if (overlaps(cells[index]!.box, near)) found.push(index);
    return found;
  }

  /** Returns the features of a cell, in the tile's order. */
  featuresIn(cell: number): TileFeature[] {
    return this.cells[cell]!.orders.map((order) => this.feature(order));
  }

  /** Returns the features whose boxes contain a point, in any order. */
  featuresAround(x: number, y: number): TileFeature[] {
    const { boxes } = this;
    const found: TileFeature[] = [];
    for (const cell of this.cellsNear({ minX: x, minY: y, maxX: x, maxY: y })) {
      for (const order of this.cells[cell]!.orders) {
        const at = 4 * order;
        if (boxes[at]! <= x && boxes[at + 1]! <= y && boxes[at + 2]! >= x && boxes[at + 3]! >= y)
          found.push(this.feature(order));
      }
    }
    return found;
  }

  private feature(order: number): TileFeature {
    const known = this.read[order];
    if (known) return known;
    const { tables, spans, boxes } = this;
    const message = new FeatureMessage();
    message.read(tables.reader, spans[3 * order]!, spans[3 * order + 1]!);
    message.geometryEnd = spans[3 * order + 2]!;
    const at = 4 * order;
    const box = new TileBox(boxes[at]!, boxes[at + 1]!, boxes[at + 2]!, boxes[at + 3]!);
    const feature = new TileFeature(tables, order, message, box);
    this.read[order] = feature;
    return feature;
  }

  /** Estimated memory in bytes beside the bytes of the tile, with all features and properties read. */
  get weightBytes(): number {
    const entries = this.tables.keys.length + this.tables.values.length;
    return layerWeightBytes + entryWeightBytes * entries + featureWeightBytes * this.size;
  }

  /** Returns numbers that are equal for features of one type with the same values of these properties. */
  kinds(names: ReadonlySet<string>): Kinds {
    const chosen: number[] = [];
    for (const [number, key] of this.tables.keys.entries()) if (names.has(key)) chosen.push(number);
    const cacheKey = chosen.join();
    let kinds = this.kindsByKeys.get(cacheKey);
    if (!kinds) {
      kinds = new Kinds(this.size, chosen, this.tables.keys.length, this.tables.values.length);
      if (this.kindsByKeys.size >= maxKinds) this.kindsByKeys.clear();
      this.kindsByKeys.set(cacheKey, kinds);
    }
    return kinds;
  }
}

/** Maximum cached sets of names. Built-in styles have a few; uploaded styles come and go. */
const maxKinds = 16;

/** The position of a tile in the world: its zoom, column and row. */
interface TileId {
  readonly z: number;
  readonly x: number;
  readonly y: number;
}

/** Data shared by the features of a layer. */
interface Tables {
  readonly reader: PbfReader;
  readonly keys: string[];
  readonly values: Value[];
  readonly id: TileId | undefined;
  extent: number;
}

/** A feature as it is in the bytes of the tile. */
class FeatureMessage {
  type: GeometryType = 0;
  id: number | undefined;
  tagsStart = 0;
  tagsEnd = 0;
  geometryStart = 0;
  geometryEnd = 0;

  /** Reads the message that lies between two positions. */
  read(reader: PbfReader, start: number, end: number): void {
    this.type = 0;
    this.id = undefined;
    this.tagsStart = this.tagsEnd = this.geometryStart = this.geometryEnd = 0;
    reader.pos = start;
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
}

/** Width of a tile in the units in which expressions read geometry. */
const expressionExtent = 8192;

/** Creates objects without inherited names that are still fast to read. */
function PropertyBag() {}
PropertyBag.prototype = Object.create(null);
const EmptyBag = PropertyBag as unknown as new () => Record<string, Value>;

/** A feature. Style expressions read its `type`, `id` and `properties`; `within` and `distance` its `geometry`. */
export class TileFeature {
  private read: Properties | undefined;

  constructor(
    private readonly tables: Tables,
    /** Index in the layer's features. */
    readonly order: number,
    private readonly message: FeatureMessage,
    /** Bounding box of all vertices, in tile units. Empty (inside out) without a vertex. */
    readonly box: PixelBox,
  ) {}

  /** Returns the type of the geometry. */
  get type(): GeometryType {
    return this.message.type;
  }

  /** Returns the id; undefined if the feature has none. */
  get id(): number | undefined {
    return this.message.id;
  }

  /** Returns the properties, which are decoded at the first call. */
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

  /** Upper bound of the number of vertices: each takes at least two bytes. */
  get maxVertices(): number {
    return (this.message.geometryEnd - this.message.geometryStart) >> 1;
  }

  /** Reads the coordinates each time. Everything after an unknown command is ignored. */
  coordinates(): Coordinates {
    return readCoordinates(this.tables.reader.buf, this.message.geometryStart, this.message.geometryEnd);
  }

  /** Alternating numbers of keys and values. */
  tags(): Integers {
    return new Integers(this.tables.reader.buf, this.message.tagsStart, this.message.tagsEnd);
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

/** What a feature costs to draw beside its vertices, in pixels of {@link Detail}. */
const featurePx = 16;
/**
 * Limits what is drawn of a layer of a tile: 250,000 points, or 11,000 lines across the tile. With either, no pixel is
 * left to see. Drawing takes about a second of a processor for each layer of a style.
 */
const maxLayerPx = 6_000_000;
/** Limits the features of all layers, which take memory even if no style draws them: twice a full layer of points. */
const maxTileFeatures = (2 * maxLayerPx) / (featurePx + vertexPx);

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
      features += layer.size;
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
  const tables: Tables = { reader, keys: [], values: [], id, extent: defaultExtent };
  /** Alternating first byte and end of each feature's message. */
  const messages: number[] = [];
  let isFull = false;
  let name = '';
  while (reader.pos < end) {
    const tag = reader.readVarint();
    if (tag === 10) name = reader.readString();
    else if (tag === 18) {
      const featureEnd = endOfMessage(reader, end);
      isFull ||= messages.length >= 2 * maxFeatures;
      if (!isFull) messages.push(reader.pos, featureEnd);
      reader.pos = featureEnd;
    } else if (tag === 26) tables.keys.push(reader.readString());
    else if (tag === 34) tables.values.push(readValue(reader, endOfMessage(reader, end)));
    else if (tag === 40) tables.extent = reader.readVarint();
    else reader.skip(tag);
  }
  const { spans, boxes, isCut } = measured(tables, messages);
  reader.pos = end;
  return { layer: new TileLayer(name, tables, spans, boxes), isCut: isFull || isCut };
}

/** Measures features, and cuts the one that exceeds the limit of its layer. The ones after it are left out. */
function measured({ reader, extent }: Tables, messages: readonly number[]) {
  const count = messages.length / 2;
  const spans = new Int32Array(3 * count);
  const boxes = new Int32Array(4 * count);
  const message = new FeatureMessage();
  const detail = new Detail();
  let leftPx = maxLayerPx;
  for (let order = 0; order < count; order++) {
    const start = messages[2 * order]!;
    const end = messages[2 * order + 1]!;
    message.read(reader, start, end);
    const { geometryStart, geometryEnd } = message;
    detail.measure(reader.buf, geometryStart, geometryEnd, extent, leftPx - featurePx);
    // Lists that are copied would cost more than the measuring.
    spans[3 * order] = start;
    spans[3 * order + 1] = end;
    spans[3 * order + 2] = detail.end;
    boxes[4 * order] = detail.minX;
    boxes[4 * order + 1] = detail.minY;
    boxes[4 * order + 2] = detail.maxX;
    boxes[4 * order + 3] = detail.maxY;
    leftPx -= featurePx + detail.px;
    if (leftPx >= 0 && detail.end === geometryEnd) continue;
    const kept = order + (detail.end - geometryStart > 1 ? 1 : 0);
    return { spans: spans.slice(0, 3 * kept), boxes: boxes.slice(0, 4 * kept), isCut: true };
  }
  return { spans, boxes, isCut: false };
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
