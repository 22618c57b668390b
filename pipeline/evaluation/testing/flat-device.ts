/** A device in a flat world, with its state. */
import type { DeviceState, Location, UserState } from '../../../schemas/records.js';
import { evaluate } from '../evaluate.js';
import type { Evaluation } from '../types.js';
import { contextOf, type FlatWorld, locationAt } from './flat-world.js';

/** A device that keeps the state which each evaluation returns. */
export class FlatDevice {
  world: FlatWorld;
  state: DeviceState | undefined;

  constructor(world: FlatWorld) {
    this.world = world;
  }

  /** The user that was seen last. There must have been one. */
  get user(): UserState {
    return this.state!.users[0]!;
  }

  /** Evaluates a location and keeps the state. */
  evaluate(location: Location): Evaluation {
    const done = evaluate(location, this.state, contextOf(this.world));
    this.state = done.state;
    return done;
  }

  /** Returns the transitions of a location at (x, 0), such as `entered shop`. `atMin` is minutes after noon. */
  reports(atMin: number, x: number, fields: Partial<Location> = {}): string[] {
    return this.reportsOf(locationAt(atMin, x, 0, fields));
  }

  /** Does the same for any location. */
  reportsOf(location: Location): string[] {
    const { transitions } = this.evaluate(location);
    return transitions.map(({ type, id }) => `${type.replace(/user\.(\w+?)_.*/, '$1')} ${id}`);
  }

  /** Returns the ids of the fences that the user is in. */
  inside(): string[] {
    return this.state?.users[0]?.geofences.map(({ id }) => id) ?? [];
  }
}
