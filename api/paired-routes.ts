/**
 * The routes that geofences and beacons share: create, replace, read, list and delete, by id and by the pair (tag,
 * externalId).
 *
 * Every write replaces the whole record and is based on the current one. A PATCH first merges its fields into those of
 * the current record.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TObject } from 'typebox';
import { callerOf } from '../http/access/authority.js';
import { accepted, type Outcome, type RawFields } from '../http/fields/reader.js';
import { type FieldTable, schemaOf, unknownField } from '../http/fields/table.js';
import type { ListQuery, Page, Scope, SearchPart, SearchQuery } from '../pipeline/catalog/types.js';
import { ApiError, parameterError } from '../schemas/errors.js';
import type { BeaconRecord } from '../schemas/json/beacon.js';
import type { GeofenceRecord } from '../schemas/json/geofence.js';
import type { ApiDependencies } from './dependencies.js';
import { answerOf, bodyFields, described, found, idParameter, listOf, pairParameters, success } from './describe.js';
import { type Edit, sendRevision } from './edits.js';
import { listPaging, metaOfPage, readListQuery } from './lists.js';
import { mergedFields, patchDescription } from './merge-patch.js';
import { addOutlineRoute } from './outlines.js';
import { type Pair, refuseOtherPair, requirePair } from './paired-fields.js';
import { addSearchRoutes, listPage, searchListParameters, searchPage } from './paired-search.js';
import type { ExportedFields } from './stored-fields.js';

/**
 * What differs between geofences and beacons. `Given` is what an owner says about a resource, in normal form, and
 * `Input` the same after lookups.
 */
export interface PairedResource<Given, Input, Stored extends GeofenceRecord | BeaconRecord> {
  readonly name: 'geofence' | 'beacon';
  readonly orderBy: ListQuery['orderBy'];
  readonly fields: FieldTable;
  /** The schema of the resource in answers. */
  readonly answer: TObject;
  /** The fields of a stored record. */
  readonly stored: ExportedFields<Stored>;
  find(scope: Scope, id: string): Stored | undefined;
  /** Returns the record that an edit by pair replaces, also one that `find` does not show any more. Default: `find`. */
  replaced?(scope: Scope, id: string, given: Given | Input): Stored | undefined;
  list(query: ListQuery): Page<Stored>;
  search(query: SearchQuery): SearchPart<Stored>;
  /** Returns the id that follows from the pair; undefined when a part is missing. */
  idOf(scope: Scope, pair: { readonly [Part in keyof Pair]: string | null }): string | undefined;
  read(fields: RawFields, path?: Pick<Stored, keyof Pair>): Outcome<Given & Pick<Stored, keyof Pair>>;
  /** Looks up what the owner left to be found. @param current reads the current record, after all earlier edits. */
  complete(
    scope: Scope,
    given: Given & Pick<Stored, keyof Pair>,
    current: () => Promise<Stored | undefined>,
  ): Promise<Outcome<Input & Pick<Stored, keyof Pair>>>;
  record(scope: Scope, input: Input & Pick<Stored, keyof Pair>, existing: Stored | undefined, nowMs: number): Stored;
  json(record: Stored, nowMs: number): object;
  /** Throws if the project may not write the resource. Default: it may. */
  admit?(scope: Scope): void;
}

type ById = { Params: { id: string } };
type ByPair = { Params: Pair };

const config = { authority: 'secret', limit: 'management' } as const;
const replaces = 'Fields that are left out are cleared.';
const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Another edit came between reading a record for a PATCH and writing it. */
class OtherEdit extends Error {}

const maxPatchAttempts = 10;

/** Adds the routes under `/v1/{name}s`. */
export function addPairedRoutes<Given, Input, Stored extends GeofenceRecord | BeaconRecord>(
  app: FastifyInstance,
  resource: PairedResource<Given, Input, Stored>,
  { configuration, writer, clock }: Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'>,
  edit: Edit,
): void {
  const { name, fields: table } = resource;
  const tag = `${name}s`;
  const path = `/v1/${tag}`;
  const operation = (verb: string, rest = '') => `${verb}${capitalized(name)}${rest}`;
  const one = answerOf({ [name]: resource.answer });
  const creation = schemaOf(table);
  const update = schemaOf(table, { without: ['tag', 'externalId'] });
  const answered = Object.keys(resource.answer.properties);

  type GivenPair = Given & Pick<Stored, keyof Pair>;
  type InputPair = Input & Pick<Stored, keyof Pair>;
  type Http = { readonly request: FastifyRequest; readonly reply: FastifyReply };

  function knownFields(request: FastifyRequest): RawFields {
    const fields = bodyFields(request.body);
    const problem = unknownField(table, fields, answered);
    if (problem !== undefined) throw parameterError(problem);
    return fields;
  }

  const answer = (record: Stored) => ({ meta: success, [name]: resource.json(record, clock()) });
  const byId = (request: FastifyRequest<ById>): Stored =>
    found(resource.find(callerOf(request), request.params.id), name);
  function byPair(request: FastifyRequest<ByPair>): Stored {
    const id = resource.idOf(callerOf(request), request.params);
    return found(id === undefined ? undefined : resource.find(callerOf(request), id), name);
  }

  function show(record: Stored, reply: FastifyReply) {
    sendRevision(reply, configuration.revisionOf(name, record._id));
    return answer(record);
  }

  const replaced = (scope: Scope, id: string, given: Given | Input): Stored | undefined =>
    resource.replaced ? resource.replaced(scope, id, given) : resource.find(scope, id);

  async function completed(scope: Scope, given: GivenPair, id: string | undefined): Promise<InputPair> {
    async function current(): Promise<Stored | undefined> {
      if (id === undefined) return undefined;
      await writer.catchUp();
      return replaced(scope, id, given);
    }
    return accepted(await resource.complete(scope, given, current));
  }

  /**
   * Writes the record that follows from the input and the current record, if there is one.
   * @param findReplaced may return a record that callers do not see.
   */
  async function save(
    http: Http,
    queue: string,
    input: InputPair,
    find: () => Stored | undefined,
    findReplaced = find,
  ) {
    const scope = callerOf(http.request);
    resource.admit?.(scope);
    const saved = await edit(http, `${name}/${queue}`, (nowMs) => {
      const isExisting = find() !== undefined;
      const record = resource.record(scope, input, findReplaced(), nowMs);
      return { kind: name, id: record._id, record, isExisting, result: record };
    });
    return answer(saved);
  }

  async function upsert(http: Http, given: GivenPair) {
    const scope = callerOf(http.request);
    const id = resource.idOf(scope, given);
    const input = await completed(scope, given, id);
    if (id === undefined) return save(http, http.request.id, input, () => undefined);
    return save(
      http,
      id,
      input,
      () => resource.find(scope, id),
      () => replaced(scope, id, input),
    );
  }

  /** Writes what follows from the current record and the fields of a PATCH. */
  async function patch(http: Http, find: () => Stored) {
    const scope = callerOf(http.request);
    const changes = knownFields(http.request);
    for (let attempt = 1; attempt <= maxPatchAttempts; attempt++) {
      await writer.catchUp();
      const base = find();
      const { tag, externalId } = base;
      refuseOtherPair(changes, { tag, externalId });
      const given = accepted(resource.read(mergedFields(resource.stored, base, changes), { tag, externalId }));
      const input = await completed(scope, given, base._id);
      const findBase = (): Stored => {
        const current = find();
        // Merged into an older record, the fields would undo the other edit.
        if (current.updatedAt !== base.updatedAt) throw new OtherEdit();
        return current;
      };
      try {
        return await save(http, base._id, input, findBase);
      } catch (error) {
        if (!(error instanceof OtherEdit)) throw error;
      }
    }
    throw new ApiError('edit_conflict', 'other edits of this record keep coming first; try again');
  }

  async function remove(http: Http, queue: string, find: () => Stored) {
    await edit(http, `${name}/${queue}`, () => ({
      kind: name,
      id: find()._id,
      record: null,
      isExisting: true,
      result: null,
    }));
    return { meta: success };
  }

  app.post(path, {
    config,
    schema: described({
      operationId: operation('create'),
      tag,
      summary: `Create a ${name}`,
      description: `If the pair of tag and externalId exists, that ${name} is updated. ${replaces}`,
      body: creation,
      answer: one,
      failures: [400, 409, 413, 503],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => upsert({ request, reply }, accepted(resource.read(knownFields(request)))),
  });

  app.put<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('upsert'),
      tag,
      summary: `Create or update the ${name} of a pair`,
      description: replaces,
      params: pairParameters,
      body: update,
      answer: one,
      failures: [400, 409, 413, 503],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      requirePair(request.params);
      return upsert({ request, reply }, accepted(resource.read(knownFields(request), request.params)));
    },
  });

  app.put<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('update'),
      tag,
      summary: `Update a ${name} by id`,
      description: `${replaces} Tag and externalId stay.`,
      params: idParameter,
      body: update,
      answer: one,
      failures: [400, 404, 409, 413, 503],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const { id } = request.params;
      const scope = callerOf(request);
      // Another node may have created the record a moment ago.
      if (resource.find(scope, id) === undefined) await writer.catchUp();
      // The pair of an id never changes.
      const { tag, externalId } = byId(request);
      const fields = knownFields(request);
      refuseOtherPair(fields, { tag, externalId });
      const input = await completed(scope, accepted(resource.read(fields, { tag, externalId })), id);
      return save({ request, reply }, id, input, () => byId(request));
    },
  });

  app.patch<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('patch'),
      tag,
      summary: `Change fields of a ${name} by id`,
      description: patchDescription,
      params: idParameter,
      body: schemaOf(table, { without: ['tag', 'externalId'], allOptional: true }),
      answer: one,
      failures: [400, 404, 409, 413],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => patch({ request, reply }, () => byId(request)),
  });

  app.patch<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('patch', 'OfPair'),
      tag,
      summary: `Change fields of the ${name} of a pair`,
      description: patchDescription,
      params: pairParameters,
      body: schemaOf(table, { without: ['tag', 'externalId'], allOptional: true }),
      answer: one,
      failures: [400, 404, 409, 413],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => patch({ request, reply }, () => byPair(request)),
  });

  app.get(path, {
    config,
    schema: described({
      operationId: `list${capitalized(tag)}`,
      tag,
      summary: `List ${tag}, ${resource.orderBy === 'updatedAt' ? 'last updated' : 'newest'} first`,
      description:
        `${listPaging} Or pass \`${resource.orderBy}\` of the last item ` +
        `as \`${resource.orderBy.replace('At', 'Before')}\`.`,
      querystring: searchListParameters,
      answer: listOf({ [tag]: Type.Array(resource.answer) }, { cursor: true }),
      failures: [400],
    }),
    handler: async (request) => {
      const given = request.query as RawFields;
      const nowMs = clock();
      const found = await searchPage(resource, callerOf(request), given);
      if (found) return { meta: found.meta, [tag]: found.items.map((record) => resource.json(record, nowMs)) };
      const query = accepted(readListQuery(callerOf(request), given, resource.orderBy));
      const { items, hasMore } = await listPage(resource, query);
      const meta = metaOfPage(items, hasMore, (record) => record[resource.orderBy]);
      return { meta, [tag]: items.map((record) => resource.json(record, nowMs)) };
    },
  });

  addSearchRoutes(app, resource, { configuration, writer, clock });
  addOutlineRoute(app, resource, clock);

  app.get<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('get'),
      tag,
      summary: `Get a ${name} by id`,
      params: idParameter,
      answer: one,
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => show(byId(request), reply),
  });

  app.get<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('get', 'OfPair'),
      tag,
      summary: `Get the ${name} of a pair`,
      params: pairParameters,
      answer: one,
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => show(byPair(request), reply),
  });

  app.delete<ById>(`${path}/:id`, {
    config,
    schema: described({
      operationId: operation('delete'),
      tag,
      summary: `Delete a ${name} by id`,
      params: idParameter,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => remove({ request, reply }, request.params.id, () => byId(request)),
  });

  app.delete<ByPair>(`${path}/:tag/:externalId`, {
    config,
    schema: described({
      operationId: operation('delete', 'OfPair'),
      tag,
      summary: `Delete the ${name} of a pair`,
      params: pairParameters,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) =>
      remove({ request, reply }, resource.idOf(callerOf(request), request.params) ?? '', () => byPair(request)),
  });
}
