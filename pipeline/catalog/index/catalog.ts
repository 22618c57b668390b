/**
 * What the evaluating thread holds in memory of the read model: the monitored fences and beacons of every project and
 * environment.
 */
import type { Environment } from '../../../schemas/json/common.js';
import { defaultBounds, type EvaluationContext } from '../../evaluation/types.js';
import { createRulesCompiler } from '../store/fence-rules.js';
import type { ChangedThing, ReadModel } from '../store/read-model.js';
import type { Catalog, Scope } from '../types.js';
import { MonitoredBeacons } from './monitored-beacons.js';
import { MonitoredFences } from './monitored-fences.js';
import { createTreeBuilder } from './tree-builder.js';

/** EvaluationContext with the questions by place that only this room asks of them. */
export interface MonitoredContext extends EvaluationContext {
  readonly fences: MonitoredFences;
  readonly beacons: MonitoredBeacons;
}

export interface MonitoredCatalog extends Catalog {
  context(scope: Scope): MonitoredContext | undefined;
  close(): Promise<void>;
}

type Monitored = Pick<MonitoredContext, 'fences' | 'beacons'>;
type ByEnvironment<T> = Partial<Record<Environment, T>>;

/** Loads everything the read model holds; a million fences take seconds. */
export function createCatalog(readModel: ReadModel): MonitoredCatalog {
  const builder = createTreeBuilder();
  const compileRules = createRulesCompiler();
  let monitored = new Map<string, ByEnvironment<Monitored>>();
  /** What has been asked for; dropped with every change of its project. */
  let answered = new Map<string, ByEnvironment<MonitoredContext>>();
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
    readModel.refresh();
    version = readModel.version;
    monitored = new Map();
    answered = new Map();
    for (const { scope, id, fence } of readModel.compactFences()) of(scope).fences.setUnindexed(id, fence);
    for (const { test, live } of monitored.values()) {
      test?.fences.indexAll();
      live?.fences.indexAll();
    }
    for (const beacon of readModel.everyBeacon()) of(beacon).beacons.set(beacon);
  }

  function takeIn({ kind, id, scope }: ChangedThing): void {
    if (scope === null) {
      answered.delete(id);
    } else if (kind === 'geofence') {
      const fence = readModel.compactFence(scope, id);
      if (fence) of(scope).fences.set(id, fence);
      else of(scope).fences.delete(id);
    } else {
      const beacon = readModel.beacon(scope, id);
      if (beacon) of(scope).beacons.set(beacon);
      else of(scope).beacons.delete(id);
    }
  }

  function assemble(scope: Scope): MonitoredContext | undefined {
    const project = readModel.project(scope.project);
    if (project === undefined) return undefined;
    const context = { ...of(scope), settings: project.settings[scope.environment], bounds: defaultBounds };
    answered.set(scope.project, { ...answered.get(scope.project), [scope.environment]: context });
    return context;
  }

  load();
  return {
    configuration: readModel,
    context: (scope) => answered.get(scope.project)?.[scope.environment] ?? assemble(scope),
    catchUp() {
      readModel.refresh();
      const latest = readModel.version;
      if (latest === version) return;
      const things = readModel.feed(version);
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
