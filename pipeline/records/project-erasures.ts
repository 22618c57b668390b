/** The erasures that a deletion of a project is written with. */
import { projectErasureId } from '../../schemas/ids.js';
import type { ErasureRecord } from '../../schemas/json/erasure.js';
import type { ConfigurationChange, ConfigurationReader } from '../catalog/types.js';

/**
 * Returns the erasures of both environments of a project. They have an effect once the project is deleted, and the same
 * ids for every attempt to delete it.
 */
export function projectErasures(
  project: string,
  nowMs: number,
  { bases }: Pick<ConfigurationReader, 'bases'>,
): ConfigurationChange[] {
  return (['test', 'live'] as const).map((environment) => {
    const id = projectErasureId(project, environment);
    const record: ErasureRecord = {
      _id: id,
      project,
      environment,
      createdAt: nowMs,
      updatedAt: nowMs,
      subject: 'project',
      target: '',
      completedAt: null,
    };
    return { kind: 'erasure', id, record, bases: bases('erasure', id) };
  });
}
