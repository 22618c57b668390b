/** Types of labels: candidates, the ways to place them, and the labels that were placed. */
import type { Color } from '@maplibre/maplibre-gl-style-spec';
import type { SpriteImage } from '../sprites/sprite-image.js';
import type { Stretched } from '../sprites/stretch.js';
import type { StyleLayer } from '../style/compile.js';
import type { PixelBox } from '../types.js';
import type { Padding } from './collision/boxes.js';
import type { FontStyle, TextStyle } from './text/text-style.js';

/** A text on a straight baseline. Lengths are CSS pixels of the image. */
export interface Run {
  readonly text: string;
  /** Centre of the run's row. */
  readonly x: number;
  readonly y: number;
  /** Radians, clockwise on the screen; 0 is from left to right. */
  readonly angle: number;
  /** Set for a section of its own style. */
  readonly section?: { readonly font: FontStyle; readonly color: string };
}

/** The rectangle around a straight text, rotated about its centre. Lengths are CSS pixels of the image. */
export interface TextRectangle {
  /** Centre. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Radians, clockwise on the screen. */
  readonly angle: number;
}

/** An icon's image, size and colours, from the style. */
export interface IconPaint {
  readonly image: SpriteImage;
  /** Factor to the image's own size. */
  readonly size: number;
  readonly opacity: number;
  /** Colours of images that are signed distance fields. */
  readonly color: Color;
  readonly haloColor: Color;
  /** CSS pixels. */
  readonly haloWidthPx: number;
}

/** An icon at its position. Lengths are CSS pixels of the image. */
export interface PlacedIcon {
  readonly paint: IconPaint;
  /** Centre. */
  readonly x: number;
  readonly y: number;
  /** Parts of a stretchable image, from left to right and from top to bottom. */
  readonly columns: Stretched;
  readonly rows: Stretched;
  /** Radians, clockwise on the screen. */
  readonly angle: number;
  /** Collision boxes. Together they cover the icon. */
  readonly boxes: readonly PixelBox[];
}

/** One way to place a label: its text, its icon or both. */
export interface Placement {
  /** Empty without a text. */
  readonly runs: readonly Run[];
  /** Collision boxes of the text. Together they cover it. */
  readonly boxes: readonly PixelBox[];
  /** Set when the text is straight. */
  readonly rectangle?: TextRectangle;
  readonly icon?: PlacedIcon;
  /** Set for a makeshift, such as an abbreviation: it takes no reserved space, and moves no label. */
  readonly isMakeshift?: true;
  /** Set for a name that extends beyond its street, and so has one place. It moves labels out of reserved space. */
  readonly isExtended?: true;
}

/** `cooperative` labels may overlap each other; `always` labels may overlap any. */
export type Overlap = 'never' | 'cooperative' | 'always';

/** Rules of a style for collisions of its texts, or of its icons, with other labels. */
export interface CollisionRules {
  /** Free space around the collision boxes. */
  readonly padding: Padding;
  readonly overlap: Overlap;
  /** Whether other labels must not overlap this one. */
  readonly isObstacle: boolean;
  /** For a text: whether its icon may be placed without it. For an icon: whether its text may. */
  readonly isOptional: boolean;
}

/** The rules of a text, which may also have to stay away from its equals. */
export interface TextCollisionRules extends CollisionRules {
  /** Minimum distance between the centres of two equal texts, in CSS pixels. */
  readonly minRepeatPx: number;
}

/** The place of a label among those of its layer that may overlap. */
interface Stacking {
  readonly layer: StyleLayer;
  /** Labels of higher ranks are drawn over those of lower ones. */
  readonly rank: number;
}

/** A label that may be placed. */
export interface Candidate {
  /** Empty without a text. */
  readonly text: string;
  /** Null without a text. */
  readonly textStyle: TextStyle | null;
  readonly textRules: TextCollisionRules;
  /** The text under which repeats are found, if it is not {@link text}. */
  readonly repeats?: string;
  /** Set when there is an icon. */
  readonly iconRules?: CollisionRules;
  /** Set when all placements have the same icon in the same place. */
  readonly fixedIcon?: PlacedIcon;
  /** Whether names along lines that are placed earlier leave space for the first placement, if they can. */
  readonly reservesSpace?: boolean;
  /** Whether labels that leave space are moved for it, if they have another place. Others may move it too. */
  readonly movesOthers?: boolean;
  /** The most labels that it tries to move, if they are fewer than those of a map. */
  readonly mostMoves?: number;
  /** Whether this label leaves reserved space free: always, or unless it has no other place. */
  readonly leavesSpace?: 'always' | 'preferably';
  /** Whether placements are makeshifts, which are tried when all else fails. */
  readonly hasMakeshifts?: boolean;
  /** Whether it names a square, in its middle. */
  readonly isSquare?: true;
  /** Whether another candidate has the same name along a line, and comes first. */
  readonly isRepeat?: boolean;
  /** Set where labels of its layer may overlap each other. */
  readonly stacking?: Stacking;
  /** Returns all ways to place the label, the preferred one first. */
  placements(): Iterable<Placement>;
}

/** Limits the candidates of a layer to the most important ones. The map is full before the others would be tried. */
export const maxCandidates = 4_000;

/** A label that will be drawn, at the first of its places that was free. */
export interface PlacedLabel {
  readonly candidate: Candidate;
  readonly placement: Placement;
}

/** The candidates of a view, which can be placed many times. */
export interface PreparedLabels {
  /** Number of candidates. */
  readonly count: number;
  /**
   * Returns the placed labels, the uppermost first: the most important, unless they stack. `keepFree` are boxes that no
   * label may overlap.
   */
  place(keepFree: readonly PixelBox[]): PlacedLabel[];
}
