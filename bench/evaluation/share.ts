/**
 * The process of one share: fixes of wandering devices through `evaluate`, with states in memory and no I/O.
 *
 * Fixes are drawn beforehand, and each becomes a new Location, like a decoded record.
 */
import { evaluate } from '../../pipeline/evaluation/evaluate.js';
import type { EvaluationContext } from '../../pipeline/evaluation/types.js';
import { Zone } from '../../pipeline/geometry/zone.js';
import type { DeviceState } from '../../schemas/records.js';
import { answerCalls } from '../child.js';
import { benchProject, contextOf, locationOf } from '../context.js';
import { type Box, box, fences, wander } from '../workload.js';
import {
  evaluationDevices,
  evaluationRounds,
  type RoundAnswer,
  type RoundCall,
  type Share,
  settings,
} from './settings.js';

interface Fixes {
  readonly count: number;
  readonly devices: Int32Array;
  readonly longitudes: Float64Array;
  readonly latitudes: Float64Array;
}

function draw(count: number, area: Box): Fixes {
  const fixes = {
    count,
    devices: new Int32Array(count),
    longitudes: new Float64Array(count),
    latitudes: new Float64Array(count),
  };
  const wandering = wander(evaluationDevices, 4, area);
  for (let index = 0; index < count; index++) {
    const { device, longitude, latitude } = wandering.next().value;
    fixes.devices[index] = device;
    fixes.longitudes[index] = longitude;
    fixes.latitudes[index] = latitude;
  }
  return fixes;
}

/** Applies fix after fix to states in memory, as the location stage does between its reads and its commits. */
function evaluator(fixes: Fixes, context: EvaluationContext, accuracyM: number, { share, shares }: Share) {
  const states: (DeviceState | undefined)[] = new Array(evaluationDevices).fill(undefined);
  const names = Array.from({ length: evaluationDevices }, (_, device) => `device-${device}`);
  const epochMs = 1_700_000_000_000;
  return (from: number, to: number): number => {
    let transitions = 0;
    for (let index = from; index < to; index++) {
      const device = fixes.devices[index]!;
      if (device % shares !== share) continue;
      const longitude = fixes.longitudes[index]!;
      const location = locationOf(names[device]!, longitude, fixes.latitudes[index]!, accuracyM, epochMs + index);
      const evaluation = evaluate(location, states[device], context);
      states[device] = evaluation.state;
      transitions += evaluation.transitions.length;
    }
    return transitions;
  };
}

function overlapsPerFix({ fences }: EvaluationContext, fixes: Fixes): number {
  const sample = Math.min(fixes.count, 10_000);
  let inside = 0;
  for (let index = 0; index < sample; index++) {
    const longitude = fixes.longitudes[index]!;
    const latitude = fixes.latitudes[index]!;
    const candidates = fences.candidates(longitude, latitude, 0);
    for (let at = 0; at < fences.candidateCount; at++) {
      if (fences.zone(candidates[at]!, longitude, latitude, 0) === Zone.within) inside++;
    }
  }
  return inside / sample;
}

function serve(own: Share): void {
  const { mix, accuracyM } = settings[own.setting]!;
  const { context } = contextOf(fences(own.smoke ? { ...mix, count: 1_000 } : mix, benchProject));
  const { rounds, perRound } = evaluationRounds(own.smoke);
  const fixes = draw((rounds + 1) * perRound, mix.area ?? box);
  const overlaps = overlapsPerFix(context, fixes);
  const evaluateFixes = evaluator(fixes, context, accuracyM, own);
  answerCalls(({ round }: RoundCall): RoundAnswer => {
    const before = process.cpuUsage();
    const transitions = evaluateFixes(round * perRound, (round + 1) * perRound);
    const { user, system } = process.cpuUsage(before);
    return { processorS: (user + system) / 1e6, transitions, overlaps };
  });
}

serve(JSON.parse(process.argv[2]!) as Share);
