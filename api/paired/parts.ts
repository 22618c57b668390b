/** What the routes of geofences and beacons share: how they describe themselves, find a record and answer it. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, type ById, bodyFields, capitalized, found, success } from '../../http/describe.js';
import type { RawFields } from '../../http/fields/reader.js';
import { answeredFields, schemaOf, unknownField } from '../../http/fields/table.js';
import { parameterError } from '../../schemas/errors.js';
import type { BeaconRecord } from '../../schemas/json/beacon.js';
import type { GeofenceRecord } from '../../schemas/json/geofence.js';
import type { ApiDependencies } from '../dependencies.js';
import { type Edit, sendRevision } from '../edits.js';
import { createPairedEdits } from './edits.js';
import type { Pair } from './fields.js';
import type { PairedResource } from './resource.js';

/** The route parameters of a record that is named by tag and external id. */
export type ByPair = { Params: Pair };

/** Access of the routes that write: a secret key, limited with other management calls. */
export const config = { authority: 'secret', limit: 'management' } as const;

/** What the routes of geofences and those of beacons share. */
export type PairedParts<Given, Input, Stored extends GeofenceRecord | BeaconRecord> = ReturnType<
  typeof createPairedParts<Given, Input, Stored>
>;

/** Returns the parts of the routes under `/v1/{name}s`. */
export function createPairedParts<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  resource: PairedResource<Given, Input, Stored>,
  { configuration, writer, clock }: Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'>,
  edit: Edit,
) {
  const { name, fields: table } = resource;
  const answered = answeredFields(resource.answer.properties);
  const find = (request: FastifyRequest, id: string | undefined): Stored =>
    found(id === undefined ? undefined : resource.find(callerOf(request), id), name);
  const answer = (record: Stored) => ({ meta: success, [name]: resource.json(record, clock()) });
  return {
    resource,
    clock,
    edits: createPairedEdits(resource, { writer, clock }, edit),
    name,
    tag: `${name}s`,
    path: `/v1/${name}s`,
    one: answerOf({ [name]: resource.answer }),
    /** The schema of the fields of a record whose address says its pair. */
    update: schemaOf(table, { without: ['tag', 'externalId'] }),
    operation: (verb: string, rest = '') => `${verb}${capitalized(name)}${rest}`,
    answer,
    /** Answers the record with its revision. */
    show(record: Stored, reply: FastifyReply) {
      sendRevision(reply, configuration.revisionOf(name, record._id));
      return answer(record);
    },
    byId: (request: FastifyRequest<ById>): Stored => find(request, request.params.id),
    byPair: (request: FastifyRequest<ByPair>): Stored =>
      find(request, resource.idOf(callerOf(request), request.params)),
    /** Returns the fields of the body. Throws if the resource has no field of one of the names. */
    knownFields(request: FastifyRequest): RawFields {
      const fields = bodyFields(request.body);
      const problem = unknownField(table, fields, answered);
      if (problem !== undefined) throw parameterError(problem);
      return fields;
    },
  };
}
