/** The pair (tag, externalId) by which owners name geofences and beacons, and the id that stands for it. */

import { FieldReader, type RawFields } from '../http/fields/reader.js';
import { ApiError } from '../schemas/errors.js';

export interface Pair {
  readonly tag: string;
  readonly externalId: string;
}

export const isId = (text: string): boolean => /^[0-9a-f]{24}$/.test(text);

/** An id follows from its pair, so an update by id can't give the record another one. */
export function refuseOtherPair(fields: RawFields, record: { readonly [Part in keyof Pair]: string | null }): void {
  const reader = new FieldReader(fields);
  for (const part of ['tag', 'externalId'] as const) {
    const given = reader.text(part);
    if (given !== null && given !== record[part]) {
      throw new ApiError('conflict', `${part}: can't be changed in an update by id; create a new record instead`, {
        param: part,
      });
    }
  }
}
