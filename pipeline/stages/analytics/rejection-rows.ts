/**
 * Rows of table `rejections`: locations that ingest refused, and those that were accepted and could not be evaluated.
 * Pure.
 */
import { deriveId } from '../../../schemas/ids.js';
import type { DeadLetter, Rejection } from '../../../schemas/records.js';
import { topics } from '../../ports.js';
import { text, time } from './tsv.js';

/** Columns of table `rejections`, in the order of {@link rejectionRow}. */
export const rejectionColumns = ['project', 'environment', 'id', 'at', 'endpoint', 'code', 'param', 'count'] as const;

export function rejectionRow({ project, environment, id, at, endpoint, code, param, count }: Rejection): string {
  const what = `${text(endpoint)}\t${text(code)}\t${text(param ?? '')}\t${count}`;
  return `${project}\t${environment}\t${id}\t${time(at)}\t${what}`;
}

/** The key of a location: project/environment/device. */
const locationKey = /^(?<project>[0-9a-f]{24})\/(?<environment>test|live)\//;

/**
 * A dead letter of topic `locations`; undefined for any other, which is no location. Its id follows from its origin, so
 * that repeats are one.
 */
export function deadLetterRow({ topic, partition, offset, key, reason, failedAt }: DeadLetter): string | undefined {
  if (topic !== topics.locations) return undefined;
  const { project = '', environment = '' } = locationKey.exec(key?.toString('utf8') ?? '')?.groups ?? {};
  const id = deriveId('dead-letter', topic, `${partition}`, `${offset}`);
  return `${project}\t${environment}\t${id}\t${time(failedAt)}\tstage\t${text(reason)}\t\t1`;
}
