/** Reads the header of an OpenStreetMap extract (PBF): its bounds and its date. */
import { open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { inflate } from 'node:zlib';
import { PbfReader } from 'pbf';
import type { Bounds } from '../roads/boundary.js';

interface ExtractHeader {
  readonly bounds: Bounds | null;
  /** Epoch ms. */
  readonly dataAt: number | null;
}

const maxHeaderBytes = 65_536;
const maxBlobBytes = 33_554_432;
const nanodegrees = 1e9;

/** Returns undefined if the file is not an extract. https://wiki.openstreetmap.org/wiki/PBF_Format */
export async function readExtractHeader(path: string): Promise<ExtractHeader | undefined> {
  const file = await open(path);
  try {
    const read = async (bytes: number, at: number): Promise<Buffer> =>
      (await file.read(Buffer.alloc(bytes), 0, bytes, at)).buffer;
    const headerBytes = (await read(4, 0)).readUInt32BE();
    if (headerBytes === 0 || headerBytes > maxHeaderBytes) return undefined;
    const { type, dataBytes } = blobHeader(await read(headerBytes, 4));
    if (type !== 'OSMHeader' || dataBytes > maxBlobBytes) return undefined;
    return headerBlock(await blobContent(await read(dataBytes, 4 + headerBytes)));
  } catch (error) {
    if ((error as { code?: string }).code !== undefined) throw error;
    return undefined;
  } finally {
    await file.close();
  }
}

function blobHeader(bytes: Buffer): { readonly type: string; readonly dataBytes: number } {
  let type = '';
  let dataBytes = 0;
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag === 1) type = pbf.readString();
    else if (tag === 3) dataBytes = pbf.readVarint();
  }, null);
  return { type, dataBytes };
}

async function blobContent(bytes: Buffer): Promise<Uint8Array> {
  let raw: Uint8Array | undefined;
  let compressed: Uint8Array | undefined;
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag === 1) raw = pbf.readBytes();
    else if (tag === 3) compressed = pbf.readBytes();
  }, null);
  return raw ?? (await promisify(inflate)(compressed ?? new Uint8Array(), { maxOutputLength: maxBlobBytes }));
}

function headerBlock(bytes: Uint8Array): ExtractHeader {
  let bounds: Bounds | null = null;
  let dataAt: number | null = null;
  new PbfReader(bytes).readFields((tag, _, pbf) => {
    if (tag === 1) bounds = boundingBox(pbf);
    else if (tag === 32) dataAt = pbf.readVarint() * 1_000;
  }, null);
  return { bounds, dataAt };
}

/** The fields are left, right, top and bottom. */
function boundingBox(pbf: PbfReader): Bounds {
  const sides = [0, 0, 0, 0];
  const end = pbf.readVarint() + pbf.pos;
  pbf.readFields(
    (tag) => {
      sides[tag - 1] = pbf.readSVarint() / nanodegrees;
    },
    null,
    end,
  );
  const [west, east, north, south] = sides as [number, number, number, number];
  return [west, south, east, north];
}
