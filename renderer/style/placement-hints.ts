/**
 * What a layer's `metadata` asks of the placement of its names, beyond the style specification. Interactive maps do not
 * know these entries. Those of uploaded styles may be anything.
 */

/**
 * Names an entry of a layer's `metadata`. Names along lines of layers above leave the layer's symbols space, if they
 * have another place. So do names at points of layers with {@link leavesSpace}, also beside an icon. Where two symbols
 * need the same space, one of a layer that moves others has it.
 */
export const reservesSpace = 'fenceline:reserves-space';
/** Names an entry of a layer's `metadata`. Its names leave space to layers with {@link reservesSpace}. */
export const leavesSpace = 'fenceline:leaves-space';
/** Names an entry of a layer's `metadata`. A symbol without space moves names that leave space. */
export const movesOthers = 'fenceline:moves-others';
/** Names an entry of a layer's `metadata`: the most labels that one of its symbols tries to move. */
export const mostMoves = 'fenceline:most-moves';
/**
 * Names an entry of a layer's `metadata`. Names of lines around or across a square are straight, in its middle. Names
 * are repeated only when all names of neighbouring layers with this entry are placed.
 */
export const namesSquares = 'fenceline:names-squares';
/**
 * Names an entry of a layer's `metadata`: the minimum distance of equal texts at points, as a {@link RepeatDistance}.
 */
export const repeatDistance = 'fenceline:repeat-distance';

/**
 * Names an entry of a layer's `metadata`: areas of another layer of the tile, as {@link AreaAround}. Only points in
 * such an area, or in its middle, are shown, those in the largest first.
 */
export const areaAround = 'fenceline:area-around';

/** Areas of a layer. */
export interface AreaAround {
  readonly sourceLayer: string;
  /** Set where only areas with one of these values of a property are meant. */
  readonly only?: { readonly key: string; readonly values: readonly string[] };
  /** Whether the point is in the middle of the area. Tiles put the point of a building there, not that of a shop. */
  readonly isMiddle?: true;
  /** Smallest area, in square CSS pixels at the whole zoom. */
  readonly minPx2: number;
}

/** How far apart equal texts are. */
export interface RepeatDistance {
  /** CSS pixels at the zoom, and below. */
  readonly px: number;
  /** From this zoom on the distance is one on the ground: it doubles with each zoom. */
  readonly zoom?: number;
}

/** The entries of a layer, by what they ask for. */
export interface PlacementHints {
  /** See {@link reservesSpace}. */
  readonly reservesSpace: boolean;
  /** See {@link movesOthers}. */
  readonly movesOthers: boolean;
  /** See {@link mostMoves}. */
  readonly mostMoves: number | undefined;
  /** See {@link leavesSpace}. */
  readonly leavesSpace: boolean;
  /** See {@link namesSquares}. */
  readonly namesSquares: boolean;
  /** See {@link repeatDistance}. */
  readonly repeatDistance: RepeatDistance | undefined;
  /** See {@link areaAround}. */
  readonly areaAround: AreaAround | undefined;
}

/** Returns the entries of a layer's `metadata`. One that has another shape is as if it were missing. */
export function placementHintsOf(metadata: unknown): PlacementHints {
  const entries = isRecord(metadata) ? metadata : {};
  const { [mostMoves]: moves, [repeatDistance]: distance, [areaAround]: area } = entries;
  return {
    reservesSpace: entries[reservesSpace] === true,
    movesOthers: entries[movesOthers] === true,
    mostMoves: isAmount(moves) ? moves : undefined,
    leavesSpace: entries[leavesSpace] === true,
    namesSquares: entries[namesSquares] === true,
    repeatDistance: isRepeatDistance(distance) ? distance : undefined,
    areaAround: isAreaAround(area) ? area : undefined,
  };
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;

const isAmount = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value) && value >= 0;

const isRepeatDistance = (value: unknown): value is RepeatDistance =>
  isRecord(value) && isAmount(value.px) && (value.zoom === undefined || isAmount(value.zoom));

function isAreaAround(value: unknown): value is AreaAround {
  if (!isRecord(value)) return false;
  const { sourceLayer, only, isMiddle, minPx2 } = value;
  const isOnly = only === undefined || (isRecord(only) && typeof only.key === 'string' && Array.isArray(only.values));
  return typeof sourceLayer === 'string' && isOnly && (isMiddle ?? true) === true && isAmount(minPx2);
}
