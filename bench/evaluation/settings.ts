/** The settings of the measurements of evaluation, and the processes that share one. */
import { type Box, box, type FenceMix, realisticVertices, tenfoldBox } from '../workload.js';

/** A row of the measurements of evaluation. `target` is what the project aims at, in locations a second. */
export interface Setting {
  readonly what: string;
  readonly mix: FenceMix;
  readonly accuracyM: number;
  readonly target?: string;
}

const mixed = (count: number, area: Box): FenceMix => ({
  count,
  radiusM: 150,
  polygons: 0.5,
  vertices: realisticVertices,
  seed: 1,
  area,
});
const circles = (count: number, radiusM: number): FenceMix => ({
  count,
  radiusM,
  polygons: 0,
  vertices: () => 0,
  seed: 2,
});

/** All settings. Processes that share one name it by its index. */
export const settings: readonly Setting[] = [
  { what: '100 k fences, half polygons', mix: mixed(100_000, box), accuracyM: 10, target: '>= 500,000' },
  {
    what: '100 k fences, half polygons, ten times the area',
    mix: mixed(100_000, tenfoldBox),
    accuracyM: 10,
    target: '>= 400,000',
  },
  // As dense as the 100 k: on the same area every step of 50 m would cross boundaries.
  {
    what: '1 M fences, half polygons, ten times the area',
    mix: mixed(1_000_000, tenfoldBox),
    accuracyM: 10,
    target: '>= 150,000',
  },
  { what: '100 k circles of 100 m', mix: circles(100_000, 100), accuracyM: 0 },
  { what: '23 k circles of 500 m', mix: circles(23_000, 500), accuracyM: 0 },
  { what: '100 k circles of 500 m', mix: circles(100_000, 500), accuracyM: 0 },
  {
    what: '100 k polygons of 32 vertices',
    mix: { count: 100_000, radiusM: 150, polygons: 1, vertices: () => 32, seed: 3 },
    accuracyM: 0,
  },
];

/** One of the processes that share the devices of a setting, as nodes of a cluster share partitions. */
export interface Share {
  /** The index of the setting. */
  readonly setting: number;
  readonly smoke: boolean;
  /** 0 to `shares - 1`: the devices whose number has this remainder. */
  readonly share: number;
  readonly shares: number;
}

/** Rounds that count, after one that does not, and the fixes of all shares in each. */
export const evaluationRounds = (smoke: boolean): { readonly rounds: number; readonly perRound: number } =>
  smoke ? { rounds: 1, perRound: 20_000 } : { rounds: 5, perRound: 300_000 };

/** Devices of a setting. */
export const evaluationDevices = 10_000;

/** The call for a round: 0 is the one that does not count. */
export interface RoundCall {
  readonly round: number;
}

/** What a process says of its part of a round. */
export interface RoundAnswer {
  /** Processor time of this process, in seconds. */
  readonly processorS: number;
  readonly transitions: number;
  /** In how many fences a fix lies, on average. */
  readonly overlaps: number;
}
