/**
 * Writes PMTiles 3 (https://github.com/protomaps/PMTiles/blob/main/spec/v3/spec.md): tiles along the Hilbert curve,
 * equal ones once.
 *
 * Input: the bytes of vector tiles. Output: the bytes of an archive with gzip compression. It is deterministic.
 */
import { gzipSync } from 'node:zlib';
import { PbfWriter } from 'pbf';
import { Compression, TileType, zxyToTileId } from 'pmtiles';

/** A tile to be written. */
export interface ArchiveTile {
  readonly zoom: number;
  readonly x: number;
  readonly y: number;
  /** Uncompressed bytes. */
  readonly bytes: Uint8Array;
}

interface ArchiveDescription {
  /** Metadata such as `name`, `attribution` and `vector_layers`. */
  readonly metadata: object;
  /** West, south, east, north. */
  readonly bounds: readonly [number, number, number, number];
}

/** A run of tile ids with the same bytes. In a root directory a run of length 0 points to a leaf. */
interface Entry {
  readonly id: number;
  runLength: number;
  readonly offset: number;
  readonly length: number;
}

interface Contents {
  readonly entries: readonly Entry[];
  readonly blobs: readonly Uint8Array[];
  readonly addressed: number;
}

const headerBytes = 127;
/** Size of a reader's first request, which must contain the header and the root directory. */
const firstRequestBytes = 16 * 1024;
const firstLeafEntries = 4096;

/** Returns the archive's bytes. At least one tile is required. */
export function pmtilesArchive(tiles: readonly ArchiveTile[], { metadata, bounds }: ArchiveDescription): Uint8Array {
  if (tiles.length === 0) throw new RangeError('An archive needs a tile');
  const contents = contentsOf(tiles);
  const { root, leaves } = directories(contents.entries);
  const json = gzipSync(JSON.stringify(metadata));
  const data = Buffer.concat(contents.blobs);
  const zooms = tiles.map(({ zoom }) => zoom);
  const header = headerOf([root, json, leaves, data], contents, [Math.min(...zooms), Math.max(...zooms)], bounds);
  return Buffer.concat([header, root, json, leaves, data]);
}

function contentsOf(tiles: readonly ArchiveTile[]): Contents {
  const sorted = tiles
    .map((tile) => ({ id: zxyToTileId(tile.zoom, tile.x, tile.y), bytes: tile.bytes }))
    .sort((a, b) => a.id - b.id);
  const entries: Entry[] = [];
  const blobs: Uint8Array[] = [];
  const known = new Map<string, { offset: number; length: number }>();
  let end = 0;
  for (const { id, bytes } of sorted) {
    const key = Buffer.from(bytes).toString('latin1');
    let place = known.get(key);
    if (!place) {
      const blob = gzipSync(bytes);
      place = { offset: end, length: blob.length };
      known.set(key, place);
      blobs.push(blob);
      end += blob.length;
    }
    const last = entries.at(-1);
    if (last?.offset === place.offset && last.id + last.runLength === id) last.runLength++;
    else entries.push({ id, runLength: 1, ...place });
  }
  return { entries, blobs, addressed: tiles.length };
}

/**
 * Returns one directory if it fits into the first request. Otherwise returns a root of leaves that are as small as
 * possible.
 */
function directories(entries: readonly Entry[]): { root: Uint8Array; leaves: Uint8Array } {
  let root = gzipSync(directoryBytes(entries));
  let leaves: Uint8Array = new Uint8Array();
  for (let size = firstLeafEntries; headerBytes + root.length > firstRequestBytes; size *= 2) {
    ({ root, leaves } = withLeaves(entries, size));
  }
  return { root, leaves };
}

function withLeaves(entries: readonly Entry[], leafEntries: number) {
  const pointers: Entry[] = [];
  const leaves: Uint8Array[] = [];
  let end = 0;
  for (let start = 0; start < entries.length; start += leafEntries) {
    const leaf = gzipSync(directoryBytes(entries.slice(start, start + leafEntries)));
    pointers.push({ id: entries[start]!.id, runLength: 0, offset: end, length: leaf.length });
    leaves.push(leaf);
    end += leaf.length;
  }
  return { root: gzipSync(directoryBytes(pointers)), leaves: Buffer.concat(leaves) };
}

/**
 * Encodes columns of varints: differences of ids, run lengths, lengths, and offsets plus one. Zero means contiguous.
 */
function directoryBytes(entries: readonly Entry[]): Uint8Array {
  const writer = new PbfWriter();
  writer.writeVarint(entries.length);
  for (const [i, { id }] of entries.entries()) writer.writeVarint(id - (entries[i - 1]?.id ?? 0));
  for (const { runLength } of entries) writer.writeVarint(runLength);
  for (const { length } of entries) writer.writeVarint(length);
  for (const [i, { offset }] of entries.entries()) {
    const before = entries[i - 1];
    writer.writeVarint(before && offset === before.offset + before.length ? 0 : offset + 1);
  }
  return writer.finish();
}

function headerOf(
  sections: readonly Uint8Array[],
  { entries, blobs, addressed }: Contents,
  [minZoom, maxZoom]: readonly [number, number],
  [west, south, east, north]: ArchiveDescription['bounds'],
): Uint8Array {
  const header = Buffer.alloc(headerBytes);
  header.write('PMTiles\x03', 'latin1');
  let offset = headerBytes;
  for (const [i, section] of sections.entries()) {
    header.writeBigUInt64LE(BigInt(offset), 8 + 16 * i);
    header.writeBigUInt64LE(BigInt(section.length), 16 + 16 * i);
    offset += section.length;
  }
  for (const [i, count] of [addressed, entries.length, blobs.length].entries())
    header.writeBigUInt64LE(BigInt(count), 72 + 8 * i);
  const clustered = 1;
  header.set([clustered, Compression.Gzip, Compression.Gzip, TileType.Mvt, minZoom, maxZoom], 96);
  const degrees = (value: number, position: number) => header.writeInt32LE(Math.round(value * 1e7), position);
  for (const [i, value] of [west, south, east, north].entries()) degrees(value, 102 + 4 * i);
  header.set([minZoom], 118);
  degrees((west + east) / 2, 119);
  degrees((south + north) / 2, 123);
  return header;
}
