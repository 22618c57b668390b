/** What the evaluating thread holds in memory of the view: the monitored fences and beacons of every project and environment. */
import type { Environment } from '../../../schemas/json/common.js';
import { defaultBounds, type Surroundings } from '../../evaluation/types.js';
import { createRulesCompiler } from './fence-rules.js';
import { MonitoredBeacons } from './monitored-beacons.js';
import { MonitoredFences } from './monitored-fences.js';
import { createTreeBuilder } from './tree-builder.js';
import type { Catalog, Scope } from '../types.js';
import type { ChangedThing, View } from '../store/read-model.js';

/** Surroundings with the questions by place that only this room asks of them. */
export interface MonitoredSurroundings extends Surroundings {
  readonly fences: MonitoredFences;
  readonly beacons: MonitoredBeacons;
}

export interface MonitoredCatalog extends Catalog {
  surroundings(scope: Scope): MonitoredSurroundings | undefined;
  close(): Promise<void>;
}

type Monitored = Pick<MonitoredSurroundings, 'fences' | 'beacons'>;
type ByEnvironment<T> = Partial<Record<Environment, T>>;

/** Loads everything the view holds; a million fences take seconds. */
export function createCatalog(view: View): MonitoredCatalog {
  const builder = createTreeBuilder();
  const compileRules = createRulesCompiler();
  let monitored = new Map<string, ByEnvironment<Monitored>>();
  /** What has been asked for; dropped with every change of its project. */
  let answered = new Map<string, ByEnvironment<MonitoredSurroundings>>();
  let version = 0;

  function of({ project, environment }: Scope): Monitored {
    let environments = monitored.get(project);
    if (environments === undefined) {
      environments = {};
      monitored.set(project, environments);
    }
    environments[environment] ??= {
      fences: new MonitoredFences({ builder, compileRules }),
      beacons: new MonitoredBeacons(),
    };
    return environments[environment];
  }

  function load(): void {
    view.refresh();
    version = view.version;
    monitored = new Map();
    answered = new Map();
    for (const { scope, id, fence } of view.compactFences()) of(scope).fences.setUnindexed(id, fence);
    for (const { test, live } of monitored.values()) {
      test?.fences.indexAll();
      live?.fences.indexAll();
    }
    for (const beacon of view.everyBeacon()) of(beacon).beacons.set(beacon);
  }

  function takeIn({ kind, id, scope }: ChangedThing): void {
    if (scope === null) {
      answered.delete(id);
    } else if (kind === 'geofence') {
      const fence = view.compactFence(scope, id);
      if (fence) of(scope).fences.set(id, fence);
      else of(scope).fences.delete(id);
    } else {
      const beacon = view.beacon(scope, id);
      if (beacon) of(scope).beacons.set(beacon);
      else of(scope).beacons.delete(id);
    }
  }

  function assemble(scope: Scope): MonitoredSurroundings | undefined {
    const project = view.project(scope.project);
    if (project === undefined) return undefined;
    const surroundings = { ...of(scope), settings: project.settings[scope.environment], bounds: defaultBounds };
    answered.set(scope.project, { ...answered.get(scope.project), [scope.environment]: surroundings });
    return surroundings;
  }

  load();
  return {
    configuration: view,
    surroundings: (scope) => answered.get(scope.project)?.[scope.environment] ?? assemble(scope),
    catchUp() {
      view.refresh();
      const latest = view.version;
      if (latest === version) return;
      const things = view.feed(version);
      if (things === undefined) {
        load();
        return;
      }
      for (const thing of things) takeIn(thing);
      version = latest;
    },
    close: () => builder.close(),
  };
}
