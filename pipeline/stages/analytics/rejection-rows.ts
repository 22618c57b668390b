/** Rows of table `rejections` for locations that were accepted but could not be evaluated. Pure. */
import { deriveId } from '../../../schemas/ids.js';
import type { DeadLetter } from '../../../schemas/records.js';
import { text, time } from '../../../schemas/tsv.js';
import { topics } from '../../ports.js';

/** Key of a location: project/environment/device. */
const locationKey = /^(?<project>[0-9a-f]{24})\/(?<environment>test|live)\//;

/**
 * Builds the row of a dead letter of topic `locations`; undefined for other topics. The id is derived from the record's
 * origin, so that duplicates replace each other.
 */
export function deadLetterRow({ topic, partition, offset, key, reason, failedAt }: DeadLetter): string | undefined {
  if (topic !== topics.locations) return undefined;
  const { project = '', environment = '' } = locationKey.exec(key?.toString('utf8') ?? '')?.groups ?? {};
  const id = deriveId('dead-letter', topic, `${partition}`, `${offset}`);
  return `${project}\t${environment}\t${id}\t${time(failedAt)}\tstage\t${text(reason)}\t\t1`;
}
