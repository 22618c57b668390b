/**
 * The sprites of uploaded styles, fetched as marker icons are: by the same guard, with bounds of their own.
 *
 * Flows in: a style's JSON and a map's scale. Flows out: the files of its sprites, as they came. They are looked into
 * where they are decoded, in a process that draws; here only their first bytes are, so that a server's page for what it
 * hasn't got is told from a file.
 */
import type { StyleSpecification } from '@maplibre/maplibre-gl-style-spec';
import type { OutboundClient, OutboundOptions } from '../../outbound/client.js';
import { RemoteFiles } from '../icons/remote-files.js';
import type { SpriteFile, Sprites } from '../types.js';
import { isPng } from './png.js';
import { type SpritePlace, type SpriteUrls, spritePlaces, spriteUrls } from './sprite-urls.js';

/** Of either file: one that is larger is none. */
export const maxSpriteBytes = 2 * 2 ** 20;
/** For each request; one that is redirected asks again. */
const timeoutMs = 5_000;
export const spriteBounds = {
  timeoutMs,
  bodyTimeoutMs: timeoutMs,
  maxBodyBytes: maxSpriteBytes,
  maxConnectionsPerOrigin: 4,
} satisfies Partial<OutboundOptions>;

const maxPending = 32;
const maxKeptBytes = 32 * 2 ** 20;

export class SpriteFiles {
  private readonly files: RemoteFiles;
  /** Of styles that are kept elsewhere: reading a large one again for each map would take some milliseconds. */
  private readonly places = new WeakMap<Uint8Array, readonly SpritePlace[]>();

  constructor(client: Pick<OutboundClient, 'send'>) {
    this.files = new RemoteFiles(client, { accept: 'application/json, image/png', maxPending, maxKeptBytes });
  }

  /** `style` is JSON; null where the style is built in, and has no sprite. */
  async get(style: Uint8Array | null, scale: number): Promise<Sprites> {
    const places = style === null ? [] : this.placesIn(style);
    const fetched = await Promise.all(places.map((place) => this.one(place, scale)));
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

  /** Of the other density where the one to prefer isn't whole. */
  private async one({ id, url }: SpritePlace, scale: number): Promise<SpriteFile | undefined> {
    const [preferred, other] = spriteUrls(url, scale);
    return (await this.pair(id, preferred)) ?? (await this.pair(id, other));
  }

  private async pair(id: string, urls: SpriteUrls): Promise<SpriteFile | undefined> {
    const files = await this.files.get([urls.index, urls.image]);
    const index = files.get(urls.index);
    const image = files.get(urls.image);
    return index && image && isJsonObject(index) && isPng(image) ? { id, index, image } : undefined;
  }
}

const isJsonObject = (bytes: Uint8Array): boolean =>
  /^\ufeff?\s*\{/.test(Buffer.from(bytes.subarray(0, 64)).toString());
