/**
 * Fetches the sprites of uploaded styles through the same guard as marker icons, with separate limits.
 *
 * Input: a style's JSON, its owner and a map's scale. Output: the unparsed files of its sprites. They are decoded in a
 * drawing process. Only their first bytes are checked here, to tell files from error pages.
 */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { OutboundClient, OutboundOptions } from '../../outbound/client.js';
import { RemoteFiles } from '../icons/remote-files.js';
import { isPng } from '../png/header.js';
import type { SpriteFile, Sprites } from '../types.js';
import { type SpritePlace, type SpriteUrls, spritePlaces, spriteUrls } from './sprite-urls.js';

/** Maximum size of either file. */
export const maxSpriteBytes = 2 * 2 ** 20;
/** Time limit of each request. A redirect is another request. */
const timeoutMs = 5_000;
/** Bounds of the client that fetches sprites. */
export const spriteBounds = {
  timeoutMs,
  bodyTimeoutMs: timeoutMs,
  maxBodyBytes: maxSpriteBytes,
  maxConnectionsPerOrigin: 4,
} satisfies Partial<OutboundOptions>;

/** Maximum concurrent downloads: a project alone may load a style with the most sprites. */
const maxPending = 32;
const maxKeptBytes = 32 * 2 ** 20;

/** Fetches and caches the sprites of styles. */
export class SpriteFiles {
  private readonly files: RemoteFiles;
  /** Cached sprite URLs of styles. Parsing a large style for each map would take milliseconds. */
  private readonly places = new WeakMap<Uint8Array, readonly SpritePlace[]>();

  constructor(client: Pick<OutboundClient, 'send'>) {
    this.files = new RemoteFiles(client, { accept: 'application/json, image/png', maxPending, maxKeptBytes });
  }

  /** Fetches the sprites of a style. `style` is JSON; null for a built-in style, which has no sprite. */
  async get(owner: string, style: Uint8Array | null, scale: number): Promise<Sprites> {
    const places = style === null ? [] : this.placesIn(style);
    const fetched = await Promise.all(places.map((place) => this.one(owner, place, scale)));
    const files = fetched.filter((file) => file !== undefined);
    return { files, missing: places.length - files.length };
  }

  private placesIn(style: Uint8Array): readonly SpritePlace[] {
    let places = this.places.get(style);
    if (!places) {
      places = spritePlaces((JSON.parse(Buffer.from(style).toString()) as StyleSpecification).sprite);
      this.places.set(style, places);
    }
    return places;
  }

  /** Falls back to the other density when the preferred files are incomplete. */
  private async one(owner: string, { id, url }: SpritePlace, scale: number): Promise<SpriteFile | undefined> {
    const [preferred, other] = spriteUrls(url, scale);
    return (await this.pair(owner, id, preferred)) ?? (await this.pair(owner, id, other));
  }

  private async pair(owner: string, id: string, urls: SpriteUrls): Promise<SpriteFile | undefined> {
    const files = await this.files.get(owner, [urls.index, urls.image]);
    const index = files.get(urls.index);
    const image = files.get(urls.image);
    return index && image && isJsonObject(index) && isPng(image) ? { id, index, image } : undefined;
  }
}

const isJsonObject = (bytes: Uint8Array): boolean =>
  /^\ufeff?\s*\{/.test(Buffer.from(bytes.subarray(0, 64)).toString());
