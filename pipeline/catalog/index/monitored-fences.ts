/**
 * Holds the fences of one project and environment in the memory of the evaluating thread: shapes, rules and spatial
 * index.
 */
import type { FenceRules, Fences, Zone } from '../../evaluation/types.js';
import { latitudeReach, longitudeReach } from '../../geometry/scale.js';
import { ShapeTable } from '../../geometry/shapes.js';
import type { CompactFence } from '../store/tables/stored-fence.js';
import { BoxIndex } from './box-index.js';
import type { TreeBuilder } from './tree-builder.js';

interface MonitoredFencesOptions {
  readonly builder: TreeBuilder;
  readonly compileRules: (rulesText: string) => FenceRules;
}

/** The fences of one project and environment, by row. Another fence gets the row of one that is gone. */
export class MonitoredFences implements Fences {
  readonly #shapes = new ShapeTable();
  readonly #ids: (string | undefined)[] = [];
  readonly #generations: number[] = [];
  readonly #rowById = new Map<string, number>();
  readonly #rules: FenceRules[] = [];
  readonly #tags: string[] = [];
  readonly #index: BoxIndex;
  readonly #box = new Float64Array(4);
  readonly #compileRules: MonitoredFencesOptions['compileRules'];
  /** One string per tag, shared by all its fences. */
  readonly #sharedTags = new Map<string, { readonly tag: string; fences: number }>();
  #changes = 0;

  constructor({ builder, compileRules }: MonitoredFencesOptions) {
    this.#compileRules = compileRules;
    this.#index = new BoxIndex(builder);
  }

  get size(): number {
    return this.#rowById.size;
  }

  /** The number of changes so far. While it stays the same, no fence is another one. */
  get changes(): number {
    return this.#changes;
  }

  /** Adds or replaces a fence, which gets another row. */
  set(id: string, fence: CompactFence): void {
    this.delete(id);
    this.#changes += 1;
    this.#index.add(this.#addRow(id, fence), this.#box);
  }

  /** Adds a fence with a new id that is not a candidate until {@link indexAll}. For loading. */
  setUnindexed(id: string, fence: CompactFence): void {
    this.#index.addUnpacked(this.#addRow(id, fence), this.#box);
  }

  indexAll(): void {
    this.#index.packAll();
  }

  /** Deletes a fence, if it exists. */
  delete(id: string): void {
    const row = this.#rowById.get(id);
    if (row === undefined) return;
    this.#changes += 1;
    this.#dropTag(this.#tags[row]!);
    this.#rowById.delete(id);
    this.#ids[row] = undefined;
    this.#shapes.remove(row);
    this.#index.remove(row);
  }

  candidates(longitude: number, latitude: number, reachM: number): Int32Array {
    const index = this.#index;
    if (reachM > 0) index.search(longitude, latitude, longitudeReach(latitude, reachM), latitudeReach(reachM));
    else index.search(longitude, latitude, 0, 0);
    return index.found.rows;
  }

  /** Returns ids of the candidates with one of the tags; undefined: with any. They stay valid when fences change. */
  idsWithin(longitude: number, latitude: number, reachM: number, tags?: ReadonlySet<string>): string[] {
    const rows = this.candidates(longitude, latitude, reachM);
    const ids: string[] = [];
    for (let index = 0; index < this.candidateCount; index++) {
      const row = rows[index]!;
      if (tags === undefined || tags.has(this.#tags[row]!)) ids.push(this.#ids[row]!);
    }
    return ids;
  }

  get candidateCount(): number {
    return this.#index.found.count;
  }

  rowOf(id: string): number {
    return this.#rowById.get(id) ?? -1;
  }

  idOf(row: number): string {
    return this.#ids[row]!;
  }

  isRowOf(row: number, id: string): boolean {
    return row < this.#ids.length && this.#ids[row] === id;
  }

  generation(row: number): number {
    return this.#generations[row]!;
  }

  rules(row: number): FenceRules {
    return this.#rules[row]!;
  }

  /** Returns the number of fences with a tag. */
  tagged(tag: string): number {
    return this.#sharedTags.get(tag)?.fences ?? 0;
  }

  zone(row: number, longitude: number, latitude: number, accuracyM: number): Zone {
    return this.#shapes.zone(row, longitude, latitude, accuracyM);
  }

  share(row: number, longitude: number, latitude: number, accuracyM: number): number {
    return this.#shapes.share(row, longitude, latitude, accuracyM);
  }

  holdsHalf(row: number, longitude: number, latitude: number, accuracyM: number): boolean {
    return this.#shapes.holdsHalf(row, longitude, latitude, accuracyM);
  }

  /** Returns the distance to the boundary in metres, positive inside. */
  signedDistance(row: number, longitude: number, latitude: number): number {
    return this.#shapes.signedDistance(row, longitude, latitude);
  }

  /** Returns the new row and writes its box to `#box`. */
  #addRow(id: string, { generation, shape, rules, tag }: CompactFence): number {
    const row =
      shape.type === 'circle'
        ? this.#shapes.addCircle(shape.longitude, shape.latitude, shape.radiusM)
        : this.#shapes.addPolygon(shape.coordinates);
    this.#shapes.box(row, this.#box);
    this.#ids[row] = id;
    this.#generations[row] = generation;
    this.#rowById.set(id, row);
    this.#rules[row] = this.#compileRules(rules);
    this.#tags[row] = this.#shareTag(tag);
    return row;
  }

  #shareTag(text: string): string {
    const known = this.#sharedTags.get(text);
    if (known) {
      known.fences++;
      return known.tag;
    }
    this.#sharedTags.set(text, { tag: text, fences: 1 });
    return text;
  }

  #dropTag(tag: string): void {
    const known = this.#sharedTags.get(tag)!;
    if (--known.fences === 0) this.#sharedTags.delete(tag);
  }
}
