/** Rows of table `rejections` for locations that were accepted but could not be evaluated. Pure. */
import { deriveId } from '../../../schemas/ids.js';
import type { DeadLetter } from '../../../schemas/records.js';
import { addRejection, type RejectionRows } from '../../../schemas/table-rows.js';
import { topics } from '../../ports.js';

/** Key of a location: project/environment/device. */
const locationKey = /^(?<project>[0-9a-f]{24})\/(?<environment>test|live)\//;

/**
 * Adds the row of a dead letter of topic `locations`; letters of other topics have none. The id is derived from the
 * record's origin, and the time is that of the record, so that duplicates replace each other.
 */
export function addDeadLetter(
  rows: RejectionRows,
  { topic, partition, offset, key, reason, failedAt }: DeadLetter,
): void {
  if (topic !== topics.locations) return;
  const { project = '', environment = '' } = locationKey.exec(key?.toString('utf8') ?? '')?.groups ?? {};
  const id = deriveId('dead-letter', topic, `${partition}`, `${offset}`);
  addRejection(rows, {
    project,
    environment,
    id,
    at: failedAt,
    endpoint: 'stage',
    code: reason,
    param: null,
    count: 1,
  });
}
