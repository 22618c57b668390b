/** Permits to import: one per project on all nodes, by a lease, and a few at a time on this node. */
import type { Scope } from '../pipeline/catalog/types.js';
import type { HeldLeases } from '../pipeline/held-lease.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';

/** The right of a project to import. Others of the project wait until it is released. */
export interface ImportPermit {
  readonly id: string;
  readonly scope: Scope;
  /** Aborts when another node may import into the project. */
  readonly lost: AbortSignal;
  release(): Promise<void>;
}

interface PermitsParts {
  readonly leases: HeldLeases;
  /** Epoch ms. */
  readonly clock: () => number;
  /** Imports of all projects on this node. */
  readonly maxRunning: number;
  /** Aborts when the process stops. */
  readonly closing: AbortSignal;
}

interface Permits {
  /** Throws like `admit` if an import could not start now. Reserves nothing. */
  check(scope: Scope): Promise<void>;
  /** Throws `import_running` or `overloaded`; when the process stops, the reason of `closing`. */
  admit(scope: Scope): Promise<ImportPermit>;
  /** Returns whether the import has its project's permit, on this node or on another. */
  isHeld(project: string, id: string): Promise<boolean>;
}

/** Time after which an import of a process that ended no longer counts as running. */
const leaseMs = 60_000;
const renewEveryMs = 5_000;
const retryAfterS = 10;

const leaseKey = (project: string): string => `import/${project}`;

/**
 * Creates the permits of this node. Throws `import_running` while the project has another import, and `overloaded`
 * while this node has enough.
 */
export function createPermits({ leases, clock, maxRunning, closing }: PermitsParts): Permits {
  const admitted = new Set<string>();

  function refuseIfBusy(): void {
    closing.throwIfAborted();
    if (admitted.size >= maxRunning) {
      throw new ApiError('overloaded', `this server runs ${maxRunning} imports; try again later`, {
        retryAfterS,
      });
    }
  }

  const otherRuns = (): ApiError =>
    new ApiError('import_running', 'another import of this project is running; wait until it has ended', {
      retryAfterS,
    });

  async function check({ project }: Scope): Promise<void> {
    refuseIfBusy();
    if ((await leases.holderOf(leaseKey(project))) !== undefined) throw otherRuns();
  }

  async function admit(scope: Scope): Promise<ImportPermit> {
    refuseIfBusy();
    const id = freshId(clock());
    admitted.add(id);
    try {
      const lease = await leases.hold(leaseKey(scope.project), id, { leaseMs, renewEveryMs, closing });
      if (lease === undefined) throw otherRuns();
      const release = async () => {
        admitted.delete(id);
        await lease.release();
      };
      return { id, scope, lost: lease.lost, release };
    } catch (error) {
      admitted.delete(id);
      throw error;
    }
  }

  const isHeld = async (project: string, id: string): Promise<boolean> =>
    (await leases.holderOf(leaseKey(project))) === id;

  return { check, admit, isHeld };
}
