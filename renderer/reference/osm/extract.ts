/**
 * Reads an OpenStreetMap extract (https://wiki.openstreetmap.org/wiki/PBF_Format) into points, lines and polygons.
 *
 * Input: the bytes of a `.osm.pbf` file that fits into memory. Output: elements with their tags. Pure.
 */
import { inflateSync } from 'node:zlib';
import type { Geometry, Position } from 'geojson';
import { PbfReader } from 'pbf';
import { type Bounds, polygonsOf } from './rings.js';

/** The tags of an element. */
export type Tags = Readonly<Record<string, string>>;

/** An element with tags. A closed way is an area if its tags say so. */
export interface Element {
  readonly tags: Tags;
  readonly geometry: Geometry;
}

interface Way {
  readonly tags: Tags;
  readonly nodes: readonly number[];
}

interface Relation {
  readonly tags: Tags;
  /** Ids of the ways with a role of an area. */
  readonly ways: readonly number[];
}

interface Extract {
  readonly nodes: Map<number, Position>;
  readonly points: Element[];
  readonly ways: Map<number, Way>;
  readonly relations: Relation[];
}

/** Positions are multiples of 1e-7 degrees. */
const degree = 1e7;

/** Returns the elements that have tags. Ways without all of their nodes are cut, relations without their ways are not returned. */
export function readExtract(file: Buffer): Element[] {
  const extract: Extract = { nodes: new Map(), points: [], ways: new Map(), relations: [] };
  for (const block of blocksOf(file, 'OSMData')) readBlock(block, extract);
  const lines = [...extract.ways.values()].filter(hasTags).flatMap((way) => shapeOf(way, extract));
  return [...extract.points, ...lines, ...extract.relations.flatMap((relation) => areaOf(relation, extract))];
}

const hasTags = ({ tags }: { readonly tags: Tags }): boolean => Object.keys(tags).length > 0;

function shapeOf({ tags, nodes }: Way, extract: Extract): Element[] {
  const line = lineOf(nodes, extract);
  if (line.length < 2) return [];
  const isClosed = nodes.length > 3 && nodes[0] === nodes.at(-1) && line.length === nodes.length;
  const geometry: Geometry =
    isClosed && isArea(tags) ? { type: 'Polygon', coordinates: [line] } : { type: 'LineString', coordinates: line };
  return [{ tags, geometry }];
}

/** Keys of areas, unless they say otherwise. */
const areaKeys = ['building', 'landuse', 'leisure', 'amenity', 'tourism', 'shop', 'place', 'military', 'historic'];

/** Returns whether a closed way with these tags is an area. */
function isArea(tags: Tags): boolean {
  if (tags.area) return tags.area !== 'no';
  if (tags.highway || tags.barrier) return false;
  if (tags.natural) return tags.natural !== 'coastline';
  if (tags.man_made === 'pier' || tags['area:highway'] || tags.waterway === 'riverbank') return true;
  return areaKeys.some((key) => key in tags);
}

function areaOf({ tags, ways }: Relation, extract: Extract): Element[] {
  const lines = ways.map((id) => lineOf(extract.ways.get(id)?.nodes ?? [], extract));
  const coordinates = polygonsOf(lines.filter((line) => line.length > 1));
  return coordinates.length === 0 ? [] : [{ tags, geometry: { type: 'MultiPolygon', coordinates } }];
}

function lineOf(nodes: readonly number[], extract: Extract): Position[] {
  return nodes.flatMap((id) => {
    const position = extract.nodes.get(id);
    return position ? [position] : [];
  });
}

/** Returns the bounds that the extract declares, or the whole world. Coastlines end near them. */
export function declaredBounds(file: Buffer): Bounds {
  const [header] = blocksOf(file, 'OSMHeader');
  const sides = new Map<number, number>();
  new PbfReader(header!).readFields((tag, _, pbf) => {
    if (tag === 1) pbf.readMessage((side, result, box) => result.set(side, box.readSVarint() / 1e9), sides);
  }, null);
  const [west = -180, east = 180, north = 90, south = -90] = [1, 2, 3, 4].map((side) => sides.get(side));
  return [west, south, east, north];
}

/** Yields the content of each block of a type. */
function* blocksOf(file: Buffer, type: 'OSMHeader' | 'OSMData'): Generator<Uint8Array> {
  let at = 0;
  while (at < file.length) {
    const headLength = file.readUInt32BE(at);
    const head = new PbfReader(file.subarray(at + 4, at + 4 + headLength)).readFields(readBlobHeader, {
      type: '',
      length: 0,
    });
    at += 4 + headLength;
    if (head.type === type) yield contentOf(file.subarray(at, at + head.length));
    at += head.length;
  }
}

function readBlobHeader(tag: number, head: { type: string; length: number }, pbf: PbfReader): void {
  if (tag === 1) head.type = pbf.readString();
  else if (tag === 3) head.length = pbf.readVarint();
}

function contentOf(blob: Uint8Array): Uint8Array {
  const parts: { raw?: Uint8Array; zlib?: Uint8Array } = {};
  new PbfReader(blob).readFields((tag, result, pbf) => {
    if (tag === 1) result.raw = pbf.readBytes();
    else if (tag === 3) result.zlib = pbf.readBytes();
  }, parts);
  return parts.raw ?? inflateSync(parts.zlib!);
}

interface Block {
  readonly texts: string[];
  readonly groups: Uint8Array[];
  /** In 1e-9 degrees. */
  granularity: number;
  latitude: number;
  longitude: number;
}

function readBlock(bytes: Uint8Array, extract: Extract): void {
  const block: Block = { texts: [], groups: [], granularity: 100, latitude: 0, longitude: 0 };
  new PbfReader(bytes).readFields((tag, result, pbf) => {
    if (tag === 1) pbf.readMessage((_, texts, strings) => texts.push(strings.readString()), result.texts);
    else if (tag === 2) result.groups.push(pbf.readBytes());
    else if (tag === 17) result.granularity = pbf.readVarint();
    else if (tag === 19) result.latitude = pbf.readVarint(true);
    else if (tag === 20) result.longitude = pbf.readVarint(true);
  }, block);
  for (const group of block.groups) {
    new PbfReader(group).readFields((tag, _, pbf) => {
      const message = pbf.readBytes();
      if (tag === 1) readNode(message, block, extract);
      else if (tag === 2) readDenseNodes(message, block, extract);
      else if (tag === 3) readWay(message, block, extract);
      else if (tag === 4) readRelation(message, block, extract);
    }, null);
  }
}

/** Reads the repeated numbers of a message by field, packed and signed where named so. */
function numbersOf(message: Uint8Array, signed: readonly number[]): Map<number, number[]> {
  const fields = new Map<number, number[]>();
  new PbfReader(message).readFields((tag, result, pbf) => {
    if (pbf.type === 2) result.set(tag, signed.includes(tag) ? pbf.readPackedSVarint() : pbf.readPackedVarint());
    else result.set(tag, [signed.includes(tag) ? pbf.readSVarint() : pbf.readVarint()]);
  }, fields);
  return fields;
}

function addNode(id: number, [longitude, latitude]: Position, tags: Tags, block: Block, extract: Extract): void {
  const degrees = (value: number, offset: number) =>
    Math.round(((offset + block.granularity * value) / 1e9) * degree) / degree;
  const position = [degrees(longitude!, block.longitude), degrees(latitude!, block.latitude)];
  extract.nodes.set(id, position);
  if (Object.keys(tags).length > 0) extract.points.push({ tags, geometry: { type: 'Point', coordinates: position } });
}

function readNode(message: Uint8Array, block: Block, extract: Extract): void {
  const fields = numbersOf(message, [1, 8, 9]);
  const [id, latitude, longitude] = [1, 8, 9].map((field) => fields.get(field)![0]!);
  addNode(id!, [longitude!, latitude!], tagsOf(fields, block), block, extract);
}

function readDenseNodes(message: Uint8Array, block: Block, extract: Extract): void {
  const fields = numbersOf(message, [1, 8, 9]);
  const [ids, latitudes, longitudes, texts = []] = [1, 8, 9, 10].map((field) => fields.get(field));
  let [id, latitude, longitude, at] = [0, 0, 0, 0];
  for (const [index, step] of ids!.entries()) {
    id += step;
    latitude += latitudes![index]!;
    longitude += longitudes![index]!;
    const tags: Record<string, string> = {};
    for (; texts[at]; at += 2) tags[block.texts[texts[at]!]!] = block.texts[texts[at + 1]!]!;
    at++;
    addNode(id, [longitude, latitude], tags, block, extract);
  }
}

function readWay(message: Uint8Array, block: Block, extract: Extract): void {
  const fields = numbersOf(message, [8]);
  extract.ways.set(fields.get(1)![0]!, { tags: tagsOf(fields, block), nodes: summed(fields.get(8) ?? []) });
}

/** Member types: node 0, way 1, relation 2. */
const wayMember = 1;

function readRelation(message: Uint8Array, block: Block, extract: Extract): void {
  const fields = numbersOf(message, [9]);
  const tags = tagsOf(fields, block);
  if (tags.type !== 'multipolygon' && tags.type !== 'boundary') return;
  const types = fields.get(10) ?? [];
  const ways = summed(fields.get(9) ?? []).filter((_, index) => types[index] === wayMember);
  extract.relations.push({ tags, ways });
}

function tagsOf(fields: ReadonlyMap<number, readonly number[]>, block: Block): Tags {
  const values = fields.get(3) ?? [];
  return Object.fromEntries(
    (fields.get(2) ?? []).map((key, index) => [block.texts[key]!, block.texts[values[index]!]!]),
  );
}

/** Returns the running sums of differences. */
function summed(differences: readonly number[]): number[] {
  let sum = 0;
  return differences.map((difference) => {
    sum += difference;
    return sum;
  });
}
