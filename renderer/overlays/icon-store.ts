/** Decoded icons, the least recently used forgotten first: the same file is decoded once for each scale. */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { MarkerGroup } from '../types.js';
import { decodeIcon, type Icon } from './icons.js';

const keptIcons = 200;

export interface DecodedIcons {
  /** By what the request calls them. */
  readonly icons: ReadonlyMap<string, Icon>;
  /** How many that the markers ask for are not there or can't be read. */
  readonly missing: number;
}

export class IconStore {
  /** Undecodable files are remembered too. */
  private readonly kept = new LRUCache<string, { readonly icon: Icon | undefined }>({ max: keptIcons });

  async decode(markers: readonly MarkerGroup[], contents: ReadonlyMap<string, Uint8Array>, scale: number): Promise<DecodedIcons> {
    const names = [...new Set(markers.map(({ icon }) => icon))].filter((name) => name !== null);
    const decoded = await Promise.all(names.map(async (name) => [name, await this.one(contents.get(name), scale)] as const));
    const icons = new Map(decoded.filter((entry): entry is readonly [string, Icon] => entry[1] !== undefined));
    return { icons, missing: names.length - icons.size };
  }

  private async one(content: Uint8Array | undefined, scale: number): Promise<Icon | undefined> {
    if (content === undefined) return undefined;
    const key = `${createHash('sha256').update(content).digest('base64')} ${scale}`;
    const known = this.kept.get(key);
    if (known) return known.icon;
    const icon = await decodeIcon(content, scale);
    this.kept.set(key, { icon });
    return icon;
  }
}
