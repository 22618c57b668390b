/**
 * Joins the pieces of a street. Tiles cut streets at their edges, and map data cuts them at each crossing.
 *
 * Where several pieces meet, the straightest pairs are joined. Pure.
 */
import { distance } from './polyline.js';

/** Alternating x and y coordinates. */
type Line = readonly number[];

/** One end of a piece. */
interface End {
  readonly piece: number;
  readonly isLast: boolean;
  readonly x: number;
  readonly y: number;
  /** Direction of the line beyond its end, in radians. */
  readonly direction: number;
}

interface Joint {
  readonly ends: readonly [End, End];
  /** Angle by which the line turns here, in radians; 0 is straight on. */
  readonly turn: number;
}

/** Pieces with a sharper turn are different streets of the same name. */
const maxTurn = Math.PI / 2;

/** Joins pieces whose ends are at most `tolerance` apart. Each piece is part of exactly one line of the result. */
export function joinLines(pieces: readonly Line[], tolerance: number): Line[] {
  if (pieces.length === 1) return [...pieces];
  const next = new Map<End, End>();
  const chains = new Chains(pieces.length);
  const ends = pieces.map((piece, i) => [endOf(piece, i, false), endOf(piece, i, true)] as const);
  for (const {
    ends: [a, b],
  } of jointsOf(ends.flat(), tolerance)) {
    if (next.has(a) || next.has(b) || !chains.join(a.piece, b.piece)) continue;
    next.set(a, b);
    next.set(b, a);
  }
  return walkChains(pieces, ends, next);
}

function endOf(line: Line, piece: number, isLast: boolean): End {
  const at = isLast ? line.length - 2 : 0;
  const inner = isLast ? at - 2 : 2;
  const x = line[at]!;
  const y = line[at + 1]!;
  return { piece, isLast, x, y, direction: Math.atan2(y - line[inner + 1]!, x - line[inner]!) };
}

/** Returns all pairs of ends that may be joined, the straightest first. */
function jointsOf(ends: readonly End[], tolerance: number): Joint[] {
  const joints: Joint[] = [];
  const fromTheLeft = [...ends].sort((a, b) => a.x - b.x);
  for (const [i, a] of fromTheLeft.entries()) {
    for (let j = i + 1; j < fromTheLeft.length; j++) {
      const b = fromTheLeft[j]!;
      if (b.x - a.x > tolerance) break;
      if (a.piece === b.piece || distance(b.x - a.x, b.y - a.y) > tolerance) continue;
      const turn = Math.abs(angleBetween(a.direction + Math.PI, b.direction));
      if (turn <= maxTurn) joints.push({ ends: [a, b], turn });
    }
  }
  return joints.sort((a, b) => a.turn - b.turn);
}

/** Returns the angle from one direction to another, −π to π. */
export function angleBetween(from: number, to: number): number {
  const turn = to - from;
  return turn - 2 * Math.PI * Math.round(turn / (2 * Math.PI));
}

/** Union-find over pieces, so that no line is joined to itself. */
class Chains {
  private readonly parents: number[] = [];

  constructor(count: number) {
    for (let i = 0; i < count; i++) this.parents.push(i);
  }

  /** Returns false when the pieces are already connected. */
  join(a: number, b: number): boolean {
    const [rootA, rootB] = [this.rootOf(a), this.rootOf(b)];
    this.parents[rootA] = rootB;
    return rootA !== rootB;
  }

  private rootOf(piece: number): number {
    let root = piece;
    while (this.parents[root] !== root) {
      this.parents[root] = this.parents[this.parents[root]!]!;
      root = this.parents[root]!;
    }
    return root;
  }
}

function walkChains(
  pieces: readonly Line[],
  ends: readonly (readonly [End, End])[],
  next: ReadonlyMap<End, End>,
): Line[] {
  const lines: Line[] = [];
  const seen = new Set<number>();
  for (const [first, last] of ends) {
    const isFree = !next.has(first) || !next.has(last);
    if (seen.has(first.piece) || !isFree) continue;
    const line: number[] = [];
    let entry: End | undefined = next.has(first) ? last : first;
    while (entry) {
      seen.add(entry.piece);
      append(line, pieces[entry.piece]!, entry.isLast);
      const exit: End = ends[entry.piece]![entry.isLast ? 0 : 1];
      entry = next.get(exit);
    }
    lines.push(line);
  }
  return lines;
}

/** Appends a piece without its first vertex, which repeats the last vertex of the line. */
function append(line: number[], piece: Line, isReversed: boolean): void {
  const isFirst = line.length === 0;
  for (let i = isFirst ? 0 : 2; i < piece.length; i += 2) {
    const at = isReversed ? piece.length - 2 - i : i;
    line.push(piece[at]!, piece[at + 1]!);
  }
}
