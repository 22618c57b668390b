/** Draws reference views through the renderer's public interface. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import { type RasterIcon, rasterizeIcon } from '../icons/rasterize.js';
import type { PlacedLabel } from '../labels/label.js';
import { createMapRenderer, type MapRenderer, type RequestIcons } from '../map.js';
import { type Query, readMapQuery } from '../request/request.js';
import { type LabelRecord, labelRecord } from './compare.js';
import { scriptsArchive } from './scripts.js';
import type { ReferenceArchive, ReferenceView } from './view.js';

/** The folder of the pictures, archives and labels that views are compared with. */
export const referenceFolder = fileURLToPath(new URL('.', import.meta.url));

const icon = (content: string, width: number, height: number) =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${content}</svg>`);

const depot = icon(
  '<path d="M2 30V12L16 2 30 12V30Z" fill="#1f6feb" stroke="#fff" stroke-width="2"/><path d="M10 30V18H22V30Z" fill="#fff"/>',
  32,
  32,
);
const photo = icon(
  '<rect width="40" height="28" rx="4" fill="#24292f"/><circle cx="20" cy="14" r="9" fill="#9ecbff"/>',
  40,
  28,
);
const large = icon('<circle cx="100" cy="100" r="96" fill="#e4002b" stroke="#fff" stroke-width="8"/>', 200, 200);

/** Returns icons by the ids in queries: an SVG, a PNG, and one that is larger than icons are drawn. */
async function iconsAt(scale: number): Promise<RequestIcons> {
  const files: [string, Uint8Array][] = [
    ['depot', depot],
    ['photo', await sharp(photo).png().toBuffer()],
    ['large', large],
  ];
  return new Map(await Promise.all(files.map(async ([name, file]) => [name, await rastered(file, scale)] as const)));
}

async function rastered(file: Uint8Array, scale: number): Promise<RasterIcon> {
  const icon = await rasterizeIcon(file, scale);
  if (!icon.ok) throw new TypeError(icon.problem.rule);
  return icon.value;
}

/** A drawn reference view. */
interface DrawnView {
  /** The encoded image. */
  readonly bytes: Uint8Array;
  readonly labels: readonly LabelRecord[];
}

/** The renderers of all archives, each opened when a view needs it. */
export class ReferenceRenderers {
  private labels: readonly PlacedLabel[] = [];
  private readonly opened = new Map<ReferenceArchive, Promise<MapRenderer>>();
  private readonly madeFolder = mkdtempSync(join(tmpdir(), 'fenceline-archives-'));

  /** `cacheFolder` has the default basemap, or gets it. */
  constructor(private readonly cacheFolder: string) {}

  /** Draws a view. Views must be drawn one after the other. Throws when the query is wrong or a tile is missing. */
  async draw({ archive, query, fences = [], style, sprites = [] }: ReferenceView): Promise<DrawnView> {
    const read = readMapQuery(parsed(query));
    if (!read.ok) throw new TypeError(`${read.problem.param} ${read.problem.rule}`);
    const renderer = await this.rendererOf(archive);
    const json = style ? Buffer.from(JSON.stringify(style)) : null;
    const { request } = read.value;
    const icons = await iconsAt(request.scale);
    this.labels = [];
    const image = await renderer.render({ ...request, fences }, icons, json, { files: sprites, missing: 0 });
    if (image.missingTiles > 0) throw new Error(`${image.missingTiles} tiles could not be read`);
    return { bytes: image.bytes, labels: this.labels.map(labelRecord) };
  }

  /** Closes the renderers and deletes the archives that were made. */
  async close(): Promise<void> {
    for (const renderer of this.opened.values()) await (await renderer).close();
    rmSync(this.madeFolder, { recursive: true });
  }

  private rendererOf(archive: ReferenceArchive): Promise<MapRenderer> {
    const known = this.opened.get(archive);
    if (known) return known;
    const path = archive === 'basemap' ? null : this.pathOf(archive);
    const renderer = createMapRenderer({
      archive: path,
      cacheFolder: this.cacheFolder,
      onLabels: (labels) => {
        this.labels = labels;
      },
    });
    this.opened.set(archive, renderer);
    return renderer;
  }

  private pathOf(archive: ReferenceArchive): string {
    if (archive !== 'scripts') return join(referenceFolder, 'archives', `${archive}.pmtiles`);
    const path = join(this.madeFolder, 'scripts.pmtiles');
    writeFileSync(path, scriptsArchive());
    return path;
  }
}

/** Returns each parameter with all its values. */
export function parsed(query: string): Query {
  const parameters = new URLSearchParams(query);
  return Object.fromEntries([...parameters.keys()].map((name) => [name, parameters.getAll(name)]));
}
