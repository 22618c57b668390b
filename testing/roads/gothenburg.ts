/**
 * An OpenStreetMap extract of central Gothenburg, with its one-way streets and turns, made of the test data of the
 * package geojson-path-finder. © OpenStreetMap contributors, ODbL 1.0.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { deflateSync } from 'node:zlib';
import { PbfWriter } from 'pbf';
import type { Bounds } from '../../providers/roads/boundary.js';
import type { Position } from '../../schemas/json/common.js';

/** What tests need to know of the extract. */
export const gothenburg = {
  /** The bounds that the extract declares. Roads that cross them are complete. */
  bounds: [11.9, 57.65, 12.04, 57.75] as Bounds,
  dataAt: Date.UTC(2016, 11, 27, 10, 4, 2),
  /** A place in the centre, beside a road. */
  center: [11.967, 57.7] as Position,
};

interface Road {
  readonly tags: Readonly<Record<string, string>>;
  readonly path: readonly Position[];
}

interface Feature {
  readonly properties: Readonly<Record<string, string>>;
  readonly geometry: { readonly type: string; readonly coordinates: Position[] };
}

/** Returns the roads that touch the bounds. */
export function roadsOfGothenburg(): Road[] {
  const file = createRequire(import.meta.url).resolve('geojson-path-finder/package.json');
  const network = file.replace(/package\.json$/, 'test/large-network.json');
  const { features } = JSON.parse(readFileSync(network, 'utf8')) as { features: Feature[] };
  const [west, south, east, north] = gothenburg.bounds;
  const isWithin = ([x, y]: Position): boolean => x >= west && x <= east && y >= south && y <= north;
  return features
    .filter(({ geometry, properties }) => geometry.type === 'LineString' && properties.highway !== undefined)
    .filter(({ geometry }) => geometry.coordinates.some(isWithin))
    .map(({ properties, geometry }) => ({
      tags: Object.fromEntries(Object.entries(properties).filter(([key]) => !key.startsWith('@'))),
      path: geometry.coordinates,
    }));
}

/** Writes the extract as PBF. https://wiki.openstreetmap.org/wiki/PBF_Format */
export function writeExtract(
  file: string,
  roads: readonly Road[],
  header: { readonly bounds?: Bounds; readonly dataAt?: number },
): void {
  writeFileSync(file, Buffer.concat([blob('OSMHeader', headerBlock(header)), blob('OSMData', primitiveBlock(roads))]));
}

function blob(type: string, content: Uint8Array): Buffer {
  const body = new PbfWriter();
  body.writeVarintField(2, content.length);
  body.writeBytesField(3, deflateSync(content));
  const data = body.finish();
  const head = new PbfWriter();
  head.writeStringField(1, type);
  head.writeVarintField(3, data.length);
  const header = head.finish();
  const length = Buffer.alloc(4);
  length.writeUInt32BE(header.length);
  return Buffer.concat([length, header, data]);
}

function headerBlock({ bounds, dataAt }: { readonly bounds?: Bounds; readonly dataAt?: number }): Uint8Array {
  const pbf = new PbfWriter();
  if (bounds !== undefined) {
    const [west, south, east, north] = bounds.map((degrees) => Math.round(degrees * 1e9));
    pbf.writeMessage(
      1,
      (_, box) => {
        for (const [index, side] of [west, east, north, south].entries()) box.writeSVarintField(index + 1, side!);
      },
      null,
    );
  }
  for (const feature of ['OsmSchema-V0.6', 'DenseNodes']) pbf.writeStringField(4, feature);
  if (dataAt !== undefined) pbf.writeVarintField(32, dataAt / 1_000);
  return pbf.finish();
}

/** Positions that several roads share are one node: a crossing. */
function primitiveBlock(roads: readonly Road[]): Uint8Array {
  const nodes = new Map<string, { readonly id: number; readonly position: Position }>();
  const nodeAt = (position: Position): number => {
    const key = position.join();
    const node = nodes.get(key) ?? { id: nodes.size + 1, position };
    nodes.set(key, node);
    return node.id;
  };
  const texts = new Map([['', 0]]);
  const textAt = (text: string): number => {
    const index = texts.get(text) ?? texts.size;
    texts.set(text, index);
    return index;
  };
  const ways = roads.map(({ tags, path }) => ({
    keys: Object.keys(tags).map(textAt),
    values: Object.values(tags).map(textAt),
    nodes: path.map(nodeAt),
  }));
  const all = [...nodes.values()];
  const pbf = new PbfWriter();
  pbf.writeMessage(
    1,
    (_, table) => {
      for (const text of texts.keys()) table.writeBytesField(1, Buffer.from(text));
    },
    null,
  );
  pbf.writeMessage(
    2,
    (_, group) =>
      group.writeMessage(
        2,
        (__, dense) => {
          dense.writePackedSVarint(1, differences(all.map(({ id }) => id)));
          dense.writePackedSVarint(8, differences(all.map(({ position }) => Math.round(position[1] * 1e7))));
          dense.writePackedSVarint(9, differences(all.map(({ position }) => Math.round(position[0] * 1e7))));
        },
        null,
      ),
    null,
  );
  pbf.writeMessage(
    2,
    (_, group) => {
      for (const [index, way] of ways.entries())
        group.writeMessage(
          3,
          (__, written) => {
            written.writeVarintField(1, index + 1);
            written.writePackedVarint(2, way.keys);
            written.writePackedVarint(3, way.values);
            written.writePackedSVarint(8, differences(way.nodes));
          },
          null,
        );
    },
    null,
  );
  return pbf.finish();
}

const differences = (values: readonly number[]): number[] =>
  values.map((value, index) => value - (values[index - 1] ?? 0));
