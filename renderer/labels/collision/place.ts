/**
 * Decides which labels are placed, and where.
 *
 * Input: candidates, the most important first. Output: placed labels. Each takes its first placement that stays inside
 * the image and collides with no earlier label and no reserved box. When only the text or only the icon fits, it is
 * placed alone if the other one is optional. A label that moves others and finds no space moves labels that leave
 * space, if they have another place. When all else fails, a label takes a makeshift, such as an abbreviation. Pure.
 */
import type { PixelBox } from '../../types.js';
import type { Candidate, CollisionRules, Overlap, PlacedIcon, Placement, PreparedLabels } from '../label.js';
import { BoxGrid } from './box-grid.js';
import { type Padding, padded } from './boxes.js';
import { inStacks } from './stack.js';

interface Obstacle extends PixelBox {
  /** Null for reserved boxes, which no label may overlap. */
  readonly overlap: Overlap | null;
  /** The label, if it may be moved. */
  readonly movable: Label | undefined;
}

/** A placed label. */
interface Label {
  readonly candidate: Candidate;
  /** Its position among the placed labels. */
  readonly number: number;
  placement: Placement;
  obstacles: readonly Obstacle[];
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** Limits the labels that are moved for another one, those that are moved for one of these, and so on. */
const maxMoved = [3, 2, 2];
const lastDepth = maxMoved.length - 1;
/** Streets are many, so fewer labels are moved for a street's name. */
const depthOfStreets = 1;
/** Limits the labels that a map tries to move, and those that it tries to move for streets. */
const maxAttempts = 520;
const maxAttemptsForStreets = 80;

/**
 * Prepares candidates. Their placements, and the space that they reserve, do not depend on the boxes that are kept
 * free, so they are found once.
 */
export function prepareLabels(candidates: readonly Candidate[], image: Size): PreparedLabels {
  const placements = new PlacementsOf(image);
  const reserved = reservedBoxes(candidates, image, placements);
  return {
    count: candidates.length,
    place(keepFree) {
      const placing = new Placing(image, keepFree, placements, reserved);
      for (const candidate of candidates) placing.place(candidate);
      placing.placeLate();
      return inStacks(placing.placed.map(({ candidate, placement }) => ({ candidate, placement })));
    },
  };
}

/** Space that a candidate reserves. */
interface Reserved extends PixelBox {
  readonly by: Candidate;
}

/**
 * Returns the space that candidates reserve. Where it overlaps, those that move others have it, because their places
 * are few, then the most important of them.
 */
function reservedBoxes(candidates: readonly Candidate[], image: Size, placements: PlacementsOf): BoxGrid<Reserved> {
  const reserved = new BoxGrid<Reserved>(image);
  const isFree = (boxes: readonly PixelBox[]) => boxes.every((box) => isInside(box, image) && !reserved.collides(box));
  const reserving = candidates.filter(({ reservesSpace }) => reservesSpace);
  const moving = reserving.filter(({ movesOthers }) => movesOthers);
  for (const by of [...moving, ...reserving.filter(({ movesOthers }) => !movesOthers)]) {
    // Shaping the texts takes longer than this.
    if (by.fixedIcon && by.iconRules && !isFree(paddedBoxes(by.fixedIcon, by.iconRules))) continue;
    for (const box of firstOf(spacesOf(by, placements.of(by)), isFree) ?? []) reserved.insert({ by, ...box });
  }
  return reserved;
}

/**
 * Yields the space of a candidate's first placement. A candidate with an icon has one for each side of it, and that of
 * the icon if it may be alone.
 */
function* spacesOf({ textRules, iconRules }: Candidate, placements: Placements): Generator<readonly PixelBox[]> {
  let iconBoxes: readonly PixelBox[] = [];
  for (let i = 0, placement = placements.at(0); placement; placement = placements.at(++i)) {
    const { boxes, icon } = placement;
    if (!icon || !iconRules) return yield paddedBoxes(placement, textRules);
    // The text gives way to the icon, and needs no padding.
    iconBoxes = paddedBoxes(icon, iconRules);
    yield [...boxes, ...iconBoxes];
  }
  if (textRules.isOptional) yield iconBoxes;
}

const paddedBoxes = ({ boxes }: { readonly boxes: readonly PixelBox[] }, { padding }: CollisionRules): PixelBox[] =>
  boxes.map((box) => padded(box, padding));

function firstOf<Item>(items: Iterable<Item>, isWanted: (item: Item) => boolean): Item | undefined {
  for (const item of items) if (isWanted(item)) return item;
  return undefined;
}

/** Placements of a candidate, which are found only when they are asked for, and only once. */
class Placements {
  private readonly known: Placement[] = [];
  private readonly source: Iterator<Placement>;

  /** `mayFit` returns false for placements that are never used. */
  constructor(
    { placements }: Candidate,
    private readonly mayFit: (placement: Placement) => boolean,
  ) {
    this.source = placements()[Symbol.iterator]();
  }

  /** Returns undefined after the last one. */
  at(index: number): Placement | undefined {
    while (index === this.known.length) {
      const next = this.source.next();
      if (next.done) return undefined;
      if (this.mayFit(next.value)) this.known.push(next.value);
    }
    return this.known[index];
  }
}

/** Placements of candidates, which may be tried many times. */
class PlacementsOf {
  private readonly listed = new Map<Candidate, Placements>();

  constructor(private readonly image: Size) {}

  of(candidate: Candidate): Placements {
    let known = this.listed.get(candidate);
    if (!known) {
      // An icon may be placed without a text that leaves the image.
      const mayFit = (placement: Placement) =>
        placement.icon !== undefined || isTextIn(candidate, placement, this.image);
      known = new Placements(candidate, mayFit);
      this.listed.set(candidate, known);
    }
    return known;
  }
}

/** Returns whether a text is in the image. */
function isTextIn({ textStyle }: Candidate, { boxes }: Placement, image: Size): boolean {
  const haloPx = textStyle?.haloWidthPx ?? 0;
  return boxes.every((box) => isInside(box, image, haloPx));
}

/** The labels that are placed so far, and the space that they take. */
class Placing {
  readonly placed: Label[] = [];
  private readonly obstacles: BoxGrid<Obstacle>;
  private readonly repeats = new Repeats();
  /** Labels with the places and the space that they left, in this order. */
  private readonly moved: (Pick<Label, 'placement' | 'obstacles'> & { readonly label: Label })[] = [];
  private attempts = 0;
  /** Streets that found no place, and whether reserved space held up the last one. */
  private readonly late: Candidate[] = [];
  private isHeldUp = false;
  private isReservationOver = false;
  private lastAttempt = maxAttempts;

  constructor(
    private readonly image: Size,
    keepFree: readonly PixelBox[],
    private readonly placements: PlacementsOf,
    private readonly reserved: BoxGrid<Reserved>,
  ) {
    this.obstacles = new BoxGrid(image);
    for (const box of keepFree) this.obstacles.insert({ overlap: null, movable: undefined, ...box });
  }

  place(candidate: Candidate): void {
    const isStreet = candidate.leavesSpace !== undefined;
    const mayMoveOthers = candidate.movesOthers && this.attempts < (isStreet ? maxAttemptsForStreets : maxAttempts);
    this.isHeldUp = false;
    this.lastAttempt = Math.min(maxAttempts, this.attempts + (candidate.mostMoves ?? maxAttempts));
    const placement =
      this.placementOf(candidate, !isStreet || !mayMoveOthers) ??
      (mayMoveOthers ? this.placementAmongMoved(candidate, isStreet ? depthOfStreets : 0, isStreet) : undefined) ??
      (isStreet && mayMoveOthers ? this.placementOf(candidate) : undefined) ??
      this.makeshiftOf(candidate);
    if (!placement) {
      if (isStreet && this.isHeldUp) this.late.push(candidate);
      return;
    }
    const label: Label = { candidate, number: this.placed.length, placement, obstacles: [] };
    label.obstacles = obstaclesOf(candidate, placement, isMovable(candidate) ? label : undefined);
    this.insert(label);
    this.placed.push(label);
  }

  /** Places streets for which only reserved space was left, where the landmark that reserved it has no place. */
  placeLate(): void {
    this.isReservationOver = true;
    for (const candidate of this.late) this.place(candidate);
  }

  private insert({ candidate, placement, obstacles }: Label): void {
    this.repeats.add(nameOf(candidate), placement);
    for (const obstacle of obstacles) this.obstacles.insert(obstacle);
  }

  private remove({ candidate, placement, obstacles }: Label): void {
    this.repeats.remove(nameOf(candidate), placement);
    for (const obstacle of obstacles) this.obstacles.remove(obstacle);
  }

  /** Returns the first makeshift with space that is not reserved. */
  private makeshiftOf(candidate: Candidate): Placement | undefined {
    return candidate.hasMakeshifts ? this.placementOf(candidate, false, true) : undefined;
  }

  private placementOf(candidate: Candidate, mayCrowd = true, isMakeshift = false): Placement | undefined {
    const { textRules, iconRules, fixedIcon } = candidate;
    // Many icons have no space, and shaping their texts takes longer than this.
    if (fixedIcon && iconRules && !iconRules.isOptional && !this.iconFits(fixedIcon, iconRules)) return undefined;
    let alone: Placement | undefined;
    let crowding: Placement | undefined;
    // Where all places are reserved, the landmark that moves the fewest names gives way.
    let fewest = mayCrowd ? Infinity : 0;
    const isFree = (placement: Placement): boolean => {
      const moves = candidate.leavesSpace ? this.movesOfReserved(candidate, placement.boxes, fewest) : -1;
      if (moves < 0) return true;
      if (moves < fewest) [crowding, fewest] = [placement, moves];
      return false;
    };
    const placements = this.placements.of(candidate);
    for (let i = 0, placement = placements.at(0); placement; placement = placements.at(++i)) {
      if ((placement.isMakeshift ?? false) !== isMakeshift) continue;
      const { runs, boxes, icon } = placement;
      const iconFits = !icon || !iconRules || this.iconFits(icon, iconRules);
      const textFits = this.isTextInside(candidate, placement) && !this.collidesAny(boxes, textRules);
      if (!icon || !iconRules) {
        if (textFits && isFree(placement)) return placement;
        continue;
      }
      if (textFits && iconFits) {
        if (isFree(placement)) return placement;
        continue;
      }
      if (textFits && runs.length > 0 && iconRules.isOptional) alone ??= { runs, boxes };
      if (iconFits && textRules.isOptional) alone ??= { runs: [], boxes: [], icon };
    }
    return (mayCrowd && candidate.leavesSpace !== 'always' ? crowding : undefined) ?? alone;
  }

  /**
   * Returns the first placement of a text whose space others can leave, and moves them. For a street, no label takes
   * reserved space.
   */
  private placementAmongMoved(candidate: Candidate, depth: number, isForStreet: boolean): Placement | undefined {
    const stuck = new Set<string>();
    const placements = this.placements.of(candidate);
    // The name of a bridge that is a little shorter than its name has no other place.
    const isTooLong = placements.at(0)?.isMakeshift;
    const hasOnePlace = placements.at(0)?.isExtended;
    for (let i = 0, placement = placements.at(0); placement; placement = placements.at(++i)) {
      if (placement.isMakeshift && !isTooLong) continue;
      if (!this.isTextInside(candidate, placement) || !this.isIconInside(placement.icon)) continue;
      if (isForStreet && !hasOnePlace && this.movesOfReserved(candidate, placement.boxes, 0) >= 0) continue;
      const labels = this.movableAt(candidate, placement, maxMoved[depth]!);
      if (!labels) continue;
      const key = isForStreet ? labels.map(({ number }) => number).join() : '';
      // Along a street, the same labels would find no place for a space beside this one either.
      if (isForStreet && stuck.has(key)) continue;
      if (this.moveAside(labels, obstaclesOf(candidate, placement), depth, isForStreet)) return placement;
      stuck.add(key);
    }
    return undefined;
  }

  /** Returns the labels in the space of a placement; undefined if one cannot move, or if they are too many. */
  private movableAt(
    { textRules, iconRules }: Candidate,
    { boxes, icon }: Placement,
    most: number,
  ): Label[] | undefined {
    const labels: Label[] = [];
    const isTooMuch = ({ movable }: Obstacle): boolean => {
      if (!movable) return true;
      if (!labels.includes(movable)) labels.push(movable);
      return labels.length > most;
    };
    const isStuck = (own: readonly PixelBox[], { isObstacle, padding }: CollisionRules): boolean =>
      isObstacle && own.some((box) => this.obstacles.some(box, isTooMuch, padding));
    return isStuck(boxes, textRules) || (icon && iconRules && isStuck(icon.boxes, iconRules)) ? undefined : labels;
  }

  /** Moves labels out of a space, or none of them. Returns whether all of them have a place elsewhere. */
  private moveAside(
    labels: readonly Label[],
    space: readonly Obstacle[],
    depth: number,
    isForStreet: boolean,
  ): boolean {
    const mark = this.moved.length;
    for (const label of labels) {
      this.moved.push({ label, placement: label.placement, obstacles: label.obstacles });
      this.remove(label);
    }
    for (const obstacle of space) this.obstacles.insert(obstacle);
    const haveMoved = labels.every((label) => this.placeAgain(label, depth, isForStreet));
    for (const obstacle of space) this.obstacles.remove(obstacle);
    if (!haveMoved) this.undoMoves(mark);
    return haveMoved;
  }

  private placeAgain(label: Label, depth: number, isForStreet: boolean): boolean {
    const { candidate } = label;
    if (this.attempts >= this.lastAttempt) return false;
    this.attempts++;
    const placement =
      this.placementOf(candidate, !isForStreet) ??
      (depth === lastDepth ? undefined : this.placementAmongMoved(candidate, depth + 1, isForStreet)) ??
      (label.placement.isMakeshift || isForStreet ? this.makeshiftOf(candidate) : undefined);
    if (!placement) return false;
    label.placement = placement;
    label.obstacles = obstaclesOf(candidate, placement, label);
    this.insert(label);
    return true;
  }

  private undoMoves(mark: number): void {
    for (const { label, placement, obstacles } of this.moved.splice(mark).reverse()) {
      this.remove(label);
      label.placement = placement;
      label.obstacles = obstacles;
      this.insert(label);
    }
  }

  private isTextInside(candidate: Candidate, placement: Placement): boolean {
    const isRepeated = () => this.repeats.isNear(nameOf(candidate), placement, candidate.textRules.minRepeatPx);
    return (!placement.icon || isTextIn(candidate, placement, this.image)) && !isRepeated();
  }

  private isIconInside(icon: PlacedIcon | undefined): boolean {
    return !icon || icon.boxes.every((box) => isInside(box, this.image));
  }

  private iconFits(icon: PlacedIcon, rules: CollisionRules): boolean {
    return this.isIconInside(icon) && !this.collidesAny(icon.boxes, rules);
  }

  /**
   * Returns the most moves of the landmarks for which this space is reserved, which tell how important they are; -1 if
   * it is free. The search ends at `enough`.
   */
  private movesOfReserved(candidate: Candidate, boxes: readonly PixelBox[], enough: number): number {
    let most = -1;
    if (this.isReservationOver) return most;
    const note = ({ by }: Reserved): boolean => {
      if (by !== candidate) most = Math.max(most, movesOf(by));
      return most >= enough;
    };
    boxes.some((box) => this.reserved.some(box, note, candidate.textRules.padding));
    this.isHeldUp ||= most >= 0;
    return most;
  }

  private collidesAny(boxes: readonly PixelBox[], { padding, overlap }: CollisionRules): boolean {
    for (const box of boxes) if (collides(box, padding, overlap, this.obstacles)) return true;
    return false;
  }
}

const movesOf = ({ movesOthers, mostMoves }: Candidate): number => (movesOthers ? (mostMoves ?? maxAttempts) : 0);

/** Returns the space that a label takes from others. `movable` is the label, if its text may be moved. */
function obstaclesOf({ textRules, iconRules }: Candidate, { boxes, icon }: Placement, movable?: Label): Obstacle[] {
  const obstacles: Obstacle[] = [];
  const add = (own: readonly PixelBox[], { isObstacle, overlap, padding }: CollisionRules, owner?: Label): void => {
    const { top, right, bottom, left } = padding;
    for (const { minX, minY, maxX, maxY } of isObstacle ? own : [])
      obstacles.push({
        minX: minX - left,
        minY: minY - top,
        maxX: maxX + right,
        maxY: maxY + bottom,
        overlap,
        movable: owner,
      });
  };
  add(boxes, textRules, movable);
  if (icon && iconRules) add(icon.boxes, iconRules);
  return obstacles;
}

const isMovable = ({ textRules, leavesSpace, movesOthers }: Candidate): boolean =>
  textRules.overlap === 'never' && (leavesSpace === 'preferably' || movesOthers === true);

/** Returns whether a box is in the image, at this distance from its edges. */
function isInside({ minX, minY, maxX, maxY }: PixelBox, { width, height }: Size, marginPx = 0): boolean {
  return minX >= marginPx && minY >= marginPx && maxX <= width - marginPx && maxY <= height - marginPx;
}

function collides(box: PixelBox, padding: Padding, overlap: Overlap, obstacles: BoxGrid<Obstacle>): boolean {
  if (overlap === 'never') return obstacles.collides(box, padding);
  const forbids = (other: Obstacle) =>
    other.overlap === null || (overlap === 'cooperative' && other.overlap === 'never');
  return obstacles.some(box, forbids, padding);
}

/** Remembers where each text was placed. */
class Repeats {
  private readonly places = new Map<string, (readonly [x: number, y: number])[]>();

  isNear(text: string, placement: Placement, distance: number): boolean {
    const middle = middleOf(placement);
    if (middle === null) return false;
    const [x, y] = middle;
    return (this.places.get(text) ?? []).some(([otherX, otherY]) => Math.hypot(x - otherX, y - otherY) < distance);
  }

  add(text: string, placement: Placement): void {
    const middle = middleOf(placement);
    if (middle === null) return;
    const places = this.places.get(text);
    if (places) places.push(middle);
    else this.places.set(text, [middle]);
  }

  remove(text: string, placement: Placement): void {
    const middle = middleOf(placement);
    const places = this.places.get(text) ?? [];
    const at = places.findIndex(([x, y]) => x === middle?.[0] && y === middle[1]);
    if (at >= 0) places.splice(at, 1);
  }
}

/** Returns the text under which repeats of a label are found. */
const nameOf = ({ text, repeats }: Candidate): string => repeats ?? text;

/** Returns the position of the icon, or else of the middle run; null without a text. */
function middleOf({ runs, icon }: Placement): readonly [x: number, y: number] | null {
  const run = runs[runs.length >> 1];
  const at = run && (icon ?? run);
  return at ? [at.x, at.y] : null;
}
