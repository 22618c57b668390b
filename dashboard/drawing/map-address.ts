/** What the address of the map's page says: where the map is, and what is chosen or drawn. Pure. */
import type { PlaceKind, PlaceName } from './places';
import type { Position } from './shape';

/** What can be drawn, as the address names it. */
export const tools = ['circle', 'polygon', 'isochrone', 'beacon'] as const;
/** What a new place is drawn with. */
export type Tool = (typeof tools)[number];

/** The record that is edited, or the one that is being drawn. */
export type Selection =
  | (PlaceName & { readonly type: 'stored' })
  /** `turn` tells a new drawing from the one before. */
  | { readonly type: 'new'; readonly tool: Tool; readonly turn: number };

/** What the address of the map says: the part of the world, and the record that is edited. */
export interface MapAddress {
  readonly view: { readonly centre: Position; readonly zoom: number } | undefined;
  readonly selection: Selection | undefined;
}

/** Reads the query of the address. What is not valid in it is ignored. */
export function readAddress(query: string): MapAddress {
  const parameters = new URLSearchParams(query);
  const [latitude, longitude, zoom] = (parameters.get('at') ?? '').split(',').map(Number);
  const isView =
    parameters.has('at') &&
    [latitude, longitude, zoom].every((each) => Number.isFinite(each)) &&
    Math.abs(latitude!) <= 85 &&
    Math.abs(longitude!) <= 180;
  const view = isView
    ? { centre: [longitude!, latitude!] as const, zoom: Math.min(22, Math.max(0, zoom!)) }
    : undefined;
  for (const kind of ['geofence', 'beacon'] as const satisfies readonly PlaceKind[]) {
    const id = parameters.get(kind);
    if (id) return { view, selection: { type: 'stored', kind, id } };
  }
  const tool = tools.find((each) => each === parameters.get('draw'));
  return { view, selection: tool && { type: 'new', tool, turn: 0 } };
}

/**
 * Returns the query for a view and a selection, with about 1 m of precision. A drawing is not in it: it would begin
 * again.
 */
export function writeAddress({ view, selection }: MapAddress): string {
  const parameters = new URLSearchParams();
  if (view) {
    const { centre, zoom } = view;
    // Of the longitude only what is on one world.
    const longitude = ((((centre[0] % 360) + 540) % 360) - 180).toFixed(5);
    parameters.set('at', `${centre[1].toFixed(5)},${longitude},${zoom.toFixed(2)}`);
  }
  if (selection?.type === 'stored') parameters.set(selection.kind, selection.id);
  const text = parameters.toString().replaceAll('%2C', ',');
  return text && `?${text}`;
}
