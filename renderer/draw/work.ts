/** Bounds what the layers of a style draw on one map. Hundreds of layers over crowded tiles would take minutes. */
import { ApiError } from '../../schemas/errors.js';
import type { StyleLayer } from '../style/compile.js';

/** A feature that a layer's filter is asked about. Most layers draw few features of their source layer. */
const perAskedFeature = 0.25;
/** A feature that a layer draws, beside its vertices. */
const perDrawnFeature = 4;
/** A label that a layer tries to place. */
const perLabel = 16;

/** The work of one map, in vertices that a layer draws. Everything else counts as so many of them. */
export class DrawingWork {
  private spent = 0;

  constructor(private readonly maxVertices: number) {}

  /** Counts a layer's features in a tile before they are selected. Throws ApiError `map_too_large` above the limit. */
  ask(layer: StyleLayer, features: number): void {
    this.spend(layer, perAskedFeature * features);
  }

  /** Counts what a layer draws in a tile before it is drawn, like `ask`. */
  draw(layer: StyleLayer, features: number, vertices: number): void {
    this.spend(layer, perDrawnFeature * features + vertices);
  }

  /** Counts the labels of a layer, like `ask`. */
  label(layer: StyleLayer, labels: number): void {
    this.spend(layer, perLabel * labels);
  }

  private spend({ id }: StyleLayer, vertices: number): void {
    this.spent += vertices;
    if (this.spent <= this.maxVertices) return;
    throw new ApiError(
      'map_too_large',
      `style: its layers must draw at most ${this.maxVertices} vertices in a view, and layer ${id} exceeds that: ` +
        'use fewer layers, a smaller map or a higher zoom',
    );
  }
}
