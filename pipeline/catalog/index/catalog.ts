/**
 * Holds the monitored fences and beacons of all projects and environments in the memory of the evaluating thread.
 */
import type { Environment } from '../../../schemas/json/common.js';
import { defaultBounds, type EvaluationContext } from '../../evaluation/types.js';
import type { ReadModel } from '../store/read-model.js';
import { createRulesCompiler } from '../store/tables/fence-rules.js';
import type { Catalog, ChangedThing, FeedPage, Scope } from '../types.js';
import { MonitoredBeacons } from './monitored-beacons.js';
import { MonitoredFences } from './monitored-fences.js';
import { createTreeBuilder } from './tree-builder.js';

/** An evaluation context with the spatial queries that only the catalog uses. */
export interface MonitoredContext extends EvaluationContext {
  readonly fences: MonitoredFences;
  readonly beacons: MonitoredBeacons;
}

/** A catalog in the memory of this thread. Its owner refreshes and closes it; the read model below it stays open. */
export interface MonitoredCatalog extends Catalog {
  context(scope: Scope): MonitoredContext | undefined;
  /**
   * Applies latest changes of the read model for about `maxMs`, and one at least. Returns whether all are applied. A
   * catalog that is further behind than the feed reaches is loaded at once.
   */
  refreshFor(maxMs: number): boolean;
  close(): Promise<void>;
}

type Monitored = Pick<MonitoredContext, 'fences' | 'beacons'>;
type ByEnvironment<T> = Partial<Record<Environment, T>>;

const isEmpty = (of: Monitored | undefined): boolean => of === undefined || of.fences.size + of.beacons.size === 0;

/** Things that are read from the feed at once. */
const thingsPerPage = 1_000;

/** Loads the read model into memory. A million fences take seconds. */
export function createCatalog(readModel: ReadModel): MonitoredCatalog {
  const builder = createTreeBuilder();
  const compileRules = createRulesCompiler();
  let monitored = new Map<string, ByEnvironment<Monitored>>();
  /** Cached contexts; dropped when their project changes. */
  let contexts = new Map<string, ByEnvironment<MonitoredContext>>();
  let version = 0;
  /** The page of the feed that is being applied, and how many of its things are. */
  let page: FeedPage | undefined;
  let applied = 0;

  function of({ project, environment }: Scope): Monitored {
    let environments = monitored.get(project);
    if (environments === undefined) {
      environments = {};
      monitored.set(project, environments);
    }
    environments[environment] ??= {
      fences: new MonitoredFences({ builder, compileRules }),
      beacons: new MonitoredBeacons(builder),
    };
    return environments[environment];
  }

  function load(): void {
    readModel.refresh();
    version = readModel.version;
    page = undefined;
    monitored = new Map();
    contexts = new Map();
    for (const { scope, id, fence } of readModel.compactFences()) of(scope).fences.setUnindexed(id, fence);
    for (const beacon of readModel.allBeacons()) of(beacon).beacons.setUnindexed(beacon);
    for (const { fences, beacons } of [...monitored.values()].flatMap(Object.values)) {
      fences.indexAll();
      beacons.indexAll();
    }
  }

  function applyChange({ kind, id, scope }: ChangedThing): void {
    if (scope === null) contexts.delete(id);
    else if (kind === 'geofence') {
      const fence = readModel.compactFence(scope, id);
      if (fence) of(scope).fences.set(id, fence);
      else monitored.get(scope.project)?.[scope.environment]?.fences.delete(id);
    } else {
      const beacon = readModel.beacon(scope, id);
      if (beacon) of(scope).beacons.set(beacon);
      else monitored.get(scope.project)?.[scope.environment]?.beacons.delete(id);
    }
    forgetIfDeleted(scope?.project ?? id);
  }

  /** Frees the memory of a project that is deleted, once its last fence and beacon are. */
  function forgetIfDeleted(project: string): void {
    const { test, live } = monitored.get(project) ?? {};
    if (isEmpty(test) && isEmpty(live) && readModel.project(project) === undefined) monitored.delete(project);
  }

  function assemble(scope: Scope): MonitoredContext | undefined {
    const project = readModel.project(scope.project);
    if (project === undefined) return undefined;
    const context = { ...of(scope), settings: project.settings[scope.environment], bounds: defaultBounds };
    contexts.set(scope.project, { ...contexts.get(scope.project), [scope.environment]: context });
    return context;
  }

  /** Applies changes until `isOver` or until there is none. Returns whether there is none. */
  function applyLatest(isOver: () => boolean): boolean {
    readModel.refresh();
    for (;;) {
      if (page === undefined) {
        if (readModel.version === version) return true;
        page = readModel.feed(version, thingsPerPage);
        applied = 0;
      }
      if (page === undefined) {
        load();
        return true;
      }
      while (applied < page.things.length) {
        applyChange(page.things[applied++]!);
        if (isOver()) return false;
      }
      version = page.version;
      page = undefined;
    }
  }

  load();
  return {
    configuration: readModel,
    context: (scope) => contexts.get(scope.project)?.[scope.environment] ?? assemble(scope),
    refresh() {
      applyLatest(() => false);
    },
    refreshFor(maxMs) {
      const endMs = performance.now() + maxMs;
      return applyLatest(() => performance.now() >= endMs);
    },
    close: () => builder.close(),
  };
}
