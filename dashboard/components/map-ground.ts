/**
 * The ground of each loaded tile: a layer that covers the tile in the colour of the style's background. The background
 * itself then shows where nothing is loaded yet, in a colour of its own. In most styles the background is the sea, and
 * a city whose tiles are under way looked like water.
 */
import { fromGeojsonVt } from '@maplibre/vt-pbf';
import * as maplibregl from 'maplibre-gl';
import type { Theme } from './map-look';

/** Where nothing is loaded: neither land nor water of any style. */
const unknownColours: Record<Theme, string> = { light: '#e3e5e6', dark: '#16191d' };
const protocol = 'ground';
const prefix = `${protocol}://`;
const layerName = 'fenceline-ground';
const extent = 4096;
/** Units beyond the tile's edges, so that no seam shows. */
const buffer = 64;

/** Returns a vector tile whose only layer has one polygon, which covers the tile. */
function encodeGround(): Uint8Array {
  const [low, high] = [-buffer, extent + buffer];
  const corners = [
    [low, low],
    [high, low],
    [high, high],
    [low, high],
    [low, low],
  ];
  const features = [{ type: 3, geometry: [corners], tags: {} }];
  return fromGeojsonVt({ [layerName]: { features } } as never, { version: 2, extent });
}

const ground = encodeGround();

/** Returns the tile with the ground: layers of a tile are fields, in any order. */
function withGround(tile: ArrayBuffer): ArrayBuffer {
  const joined = new Uint8Array(tile.byteLength + ground.length);
  joined.set(new Uint8Array(tile));
  joined.set(ground, tile.byteLength);
  return joined.buffer;
}

/** Returns the address that a tile with ground has on the server, and the address itself of anything else. */
export const serverAddress = (url: string): string => (url.startsWith(prefix) ? url.slice(prefix.length) : url);

/** Loads a vector tile and adds the ground. A tile that the map does not have has nothing else. */
async function loadTile(
  { url, headers }: maplibregl.RequestParameters,
  { signal }: AbortController,
): Promise<maplibregl.GetResourceResponse<ArrayBuffer>> {
  const response = await fetch(serverAddress(url), { headers: headers ?? {}, signal });
  if (!response.ok && response.status !== 404)
    throw new maplibregl.AJAXError(response.status, response.statusText, url, await response.blob());
  const tile = response.ok ? await response.arrayBuffer() : new ArrayBuffer(0);
  const [cacheControl, expires] = [response.headers.get('cache-control'), response.headers.get('expires')];
  return { data: withGround(tile), cacheControl, expires };
}

maplibregl.addProtocol(protocol, loadTile);

const isVector = (
  source: maplibregl.SourceSpecification | undefined,
): source is maplibregl.VectorSourceSpecification & { tiles: string[] } =>
  source?.type === 'vector' && source.tiles !== undefined;

/** Returns the style with ground below all else, and its tiles by way of {@link loadTile}. */
export function withGroundLayer(style: maplibregl.StyleSpecification, shade: Theme): maplibregl.StyleSpecification {
  const { map } = style.sources;
  const [background, ...layers] = style.layers;
  const colour = background?.type === 'background' ? background.paint?.['background-color'] : undefined;
  if (background?.type !== 'background' || colour === undefined || !isVector(map)) return style;
  const tiles = map.tiles.map((address) => prefix + address);
  return {
    ...style,
    sources: { ...style.sources, map: { ...map, tiles } },
    layers: [
      { ...background, paint: { 'background-color': unknownColours[shade] } },
      {
        id: 'ground',
        type: 'fill',
        source: 'map',
        'source-layer': layerName,
        paint: { 'fill-color': colour, 'fill-antialias': false },
      },
      ...layers,
    ],
  };
}
