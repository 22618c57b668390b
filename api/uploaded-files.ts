/** What the routes of uploaded markers and styles share: how such files are listed, created, changed and deleted. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { callerOf } from '../http/access/authority.js';
import { answerOf, type ById, described, found, idParameter, listOf, success } from '../http/describe.js';
import { accepted, type RawFields } from '../http/fields/reader.js';
import type { Scope, UploadedFiles } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import type { MapMarkerRecord, MapStyleRecord } from '../schemas/json/map.js';
import type { MapMarkerHead, MapStyleHead } from '../schemas/wire/map.js';
import type { ApiDependencies } from './dependencies.js';
import { type Edit, sendRevision } from './edits.js';
import { listPaging, readShortListQuery, shortListParameters, shortPage } from './lists.js';

type FileHead = MapMarkerHead | MapStyleHead;
type FileRecord = MapMarkerRecord | MapStyleRecord;
/** The fields of a record that do not come from its upload. */
type FileIdentity = Pick<FileRecord, '_id' | 'project' | 'environment' | 'createdAt' | 'updatedAt'>;

interface Http<Route extends object = ById> {
  readonly request: FastifyRequest<Route>;
  readonly reply: FastifyReply;
}

interface FileKind<Head> {
  readonly kind: 'map-marker' | 'map-style';
  /** As messages name one. */
  readonly noun: string;
  readonly files: UploadedFiles<Head>;
  /** Files that an environment may have. */
  readonly max: number;
}

/** The edits of uploaded files of one kind. */
export interface FileEditor<Head, Stored> {
  /** Returns the head of the file that the request names. Throws `not_found`. */
  headOf(request: FastifyRequest<ById>): Head;
  /** Throws `conflict` when the environment has all files that it may have. */
  refuseMore(scope: Scope): void;
  create(http: Http<object>, recordOf: (identity: FileIdentity) => Stored): Promise<Stored>;
  change(http: Http, recordOf: (identity: FileIdentity, head: Head) => Stored): Promise<Stored>;
  remove(http: Http): Promise<void>;
}

/** Access of the routes of uploaded files: a secret key, limited with other management calls. */
export const fileConfig = { authority: 'secret', limit: 'management' } as const;
/** Section of uploaded files in the API description. */
export const filesTag = 'maps';

/** Creates the edits of uploaded files of one kind. Throws `conflict` beyond the most that an environment may have. */
export function createFileEditor<Head extends FileHead, Stored extends FileRecord>(
  edit: Edit,
  { kind, noun, files, max }: FileKind<Head>,
): FileEditor<Head, Stored> {
  const headOf = (request: FastifyRequest<ById>): Head => found(files.find(callerOf(request), request.params.id), noun);

  function refuseMore(scope: Scope): void {
    if (files.list(scope).length < max) return;
    throw new ApiError('conflict', `there are ${max} ${noun}s, the most that this environment may have`);
  }

  return {
    headOf,
    refuseMore,
    create(http, recordOf) {
      const { project, environment } = callerOf(http.request);
      return edit(http, `${kind}s of ${project}`, (nowMs) => {
        refuseMore({ project, environment });
        const result = recordOf({ _id: freshId(nowMs), project, environment, createdAt: nowMs, updatedAt: nowMs });
        return { kind, id: result._id, record: result, isExisting: false, result };
      });
    },
    change(http, recordOf) {
      return edit(http, `${kind}/${http.request.params.id}`, (nowMs) => {
        const head = headOf(http.request);
        const { _id, project, environment, createdAt } = head;
        const result = recordOf({ _id, project, environment, createdAt, updatedAt: nowMs }, head);
        return { kind, id: _id, record: result, isExisting: true, result };
      });
    },
    async remove(http) {
      await edit(http, `${kind}/${http.request.params.id}`, () => {
        const { _id } = headOf(http.request);
        return { kind, id: _id, record: null, isExisting: true, result: null };
      });
    },
  };
}

/** The routes of a kind that are the same for all kinds. */
interface FileRoutes<Head> extends FileKind<Head> {
  readonly path: string;
  readonly operationIds: { readonly list: string; readonly get: string; readonly delete: string };
  /** Names of one file and of a list of them in answers. */
  readonly one: string;
  readonly many: string;
  readonly schema: TSchema;
  readonly json: (head: Head) => object;
  /** What GET by id answers. */
  readonly whole: { readonly summary: string; readonly schema: TSchema; readonly json: (head: Head) => object };
}

/** Adds the routes that list, get and delete files. Those that write differ by kind. */
export function addFileRoutes<Head extends FileHead>(
  app: FastifyInstance,
  { configuration }: Pick<ApiDependencies, 'configuration'>,
  { headOf, remove }: Pick<FileEditor<Head, FileRecord>, 'headOf' | 'remove'>,
  { kind, noun, files, path, operationIds, one, many, schema, json, whole }: FileRoutes<Head>,
): void {
  app.get(path, {
    config: fileConfig,
    schema: described({
      operationId: operationIds.list,
      tag: filesTag,
      summary: `List ${noun}s, newest first`,
      description: listPaging,
      querystring: shortListParameters,
      answer: listOf({ [many]: Type.Array(schema) }, { cursor: true }),
    }),
    handler: async (request) => {
      const query = accepted(readShortListQuery(request.query as RawFields));
      const { meta, rows } = shortPage(files.list(callerOf(request)), query);
      return { meta, [many]: rows.map(json) };
    },
  });

  app.get<ById>(`${path}/:id`, {
    config: fileConfig,
    schema: described({
      operationId: operationIds.get,
      tag: filesTag,
      summary: whole.summary,
      params: idParameter,
      answer: answerOf({ [one]: whole.schema }),
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => {
      const head = headOf(request);
      sendRevision(reply, configuration.revisionOf(kind, head._id));
      return { meta: success, [one]: whole.json(head) };
    },
  });

  app.delete<ById>(`${path}/:id`, {
    config: fileConfig,
    schema: described({
      operationId: operationIds.delete,
      tag: filesTag,
      summary: `Delete a ${noun}`,
      description: 'Maps that name it are refused from then on.',
      params: idParameter,
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      await remove({ request, reply });
      return { meta: success };
    },
  });
}
