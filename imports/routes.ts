/**
 * The routes of imports: files of geofences and beacons, their progress and history, and batches of records.
 *
 * Input: requests with a secret key. Output: changes on topic `changes`, and the records of imports.
 */
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { cursorParameter, limitParameter, metaOfPage, readCursor, readLimit } from '../api/lists.js';
import { callerOf } from '../http/access/authority.js';
import { endedByRevocation } from '../http/access/revocation.js';
import { answerOf, type ById, contentOf, described, found, idParameter, listOf, success } from '../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../http/fields/reader.js';
import { ApiError } from '../schemas/errors.js';
import { Import, ImportedResourceName, type ImportFileName, type ImportRecord } from '../schemas/json/import.js';
import { type BatchDependencies, batchRoutes } from './batch-routes.js';
import { fileText } from './files.js';
import { createProgressStreams, shownImport } from './progress-stream.js';
import { type UploadDependencies, uploadRoutes } from './upload-routes.js';
import { defaultUploadBounds, openUploadFolder, type UploadBounds } from './uploads.js';

/** What the routes of imports use. Closing the server closes the importer. */
export interface ImportDependencies extends BatchDependencies, Omit<UploadDependencies, 'uploads'> {
  /** Returns epoch ms. */
  readonly clock: () => number;
  /** Folder for files while they are received and imported. What is in it is removed at the start. */
  readonly folder: string;
  readonly maxFileBytes: number;
  readonly uploadBounds?: Partial<Omit<UploadBounds, 'maxFileBytes'>>;
}

const tag = 'imports';
const config = { authority: 'secret', limit: 'management' } as const;

const listParameters = Type.Object({
  resource: ImportedResourceName,
  ...limitParameter,
  ...cursorParameter,
});

function readListQuery(query: RawFields) {
  const reader = new FieldReader(query);
  const resource = reader.requiredChoice('resource', ['geofences', 'beacons']);
  const limit = readLimit(reader);
  const cursor = readCursor(reader);
  return reader.outcome(() => ({ resource: resource!, limit, ...(cursor && { before: cursor }) }));
}

const files: readonly { name: ImportFileName; operationId: string; summary: string; description: string }[] = [
  {
    name: 'rejected',
    operationId: 'getRejectedRows',
    summary: 'Get the bad rows of an import as CSV',
    description:
      'The columns of the file, and what is wrong with each row. Correct the rows and import the file: the added ' +
      'columns are ignored.',
  },
  {
    name: 'planned',
    operationId: 'getPlannedRows',
    summary: 'Get the rows of a dry run as CSV',
    description: 'Which rows would be created, updated or left unchanged.',
  },
];

/** Adds the routes of the files of rows that an import leaves. */
function addFileRoutes(app: FastifyInstance, { configuration }: ImportDependencies): void {
  for (const { name, ...about } of files) {
    app.get<ById>(`/v1/imports/:id/${name}.csv`, {
      config,
      schema: described({
        ...about,
        tag,
        params: idParameter,
        answer: contentOf({ 'text/csv': Type.String() }),
        failures: [404],
      }),
      handler: async (request, reply) => {
        // The stored import names the parts that are stored, and that of a running one may be ahead.
        const record = found(configuration.imports.find(callerOf(request), request.params.id), 'import');
        if (record.files[name].parts === 0) throw new ApiError('not_found', `the import has no file of ${name} rows`);
        const text = Readable.from(fileText(configuration.imports, record, record, name), { objectMode: false });
        return reply
          .headers({
            'content-type': 'text/csv; charset=utf-8; header=present',
            'content-disposition': `attachment; filename="${name}-${record._id}.csv"`,
          })
          .send(endedByRevocation(text, request, reply));
      },
    });
  }
}

/** Finds the import that a request names. Throws `not_found` if there is none. */
type FindImport = (request: FastifyRequest<ById>) => ImportRecord;

/** Adds the list of imports, one import, and its progress. */
function addReadingRoutes(app: FastifyInstance, dependencies: ImportDependencies, findImport: FindImport): void {
  const { importer, configuration, clock, maxFileBytes } = dependencies;
  const progress = createProgressStreams(importer, clock);

  app.get('/v1/imports', {
    config,
    schema: described({
      operationId: 'listImports',
      tag,
      summary: 'List the imports of a resource, newest first',
      description: 'The newest hundred of each resource are remembered.',
      querystring: listParameters,
      answer: listOf(
        {
          imports: Type.Array(Import),
          maxFileBytes: Type.Integer({ description: 'Limit of one file, decompressed' }),
        },
        { cursor: true },
      ),
    }),
    handler: async (request) => {
      const query = accepted(readListQuery(request.query as RawFields));
      const { project, environment } = callerOf(request);
      const { items, hasMore } = configuration.imports.list({ project, environment, ...query });
      const current = items.map((record) => importer.find(record, record._id) ?? record);
      const imports = await Promise.all(current.map((record) => shownImport(importer, record, false)));
      return { meta: metaOfPage(items, hasMore, ({ createdAt }) => createdAt), imports, maxFileBytes };
    },
  });

  app.get<ById>('/v1/imports/:id', {
    config,
    schema: described({
      operationId: 'getImport',
      tag,
      summary: 'Get an import and its progress',
      description: 'With `Accept: text/event-stream` the answer is the stream of its progress.',
      params: idParameter,
      answer: answerOf({ import: Import }),
      failures: [404],
    }),
    handler: async (request, reply) => {
      const record = findImport(request);
      if (request.headers.accept?.includes('text/event-stream')) return progress.send(record, request, reply);
      return { meta: success, import: await shownImport(importer, record) };
    },
  });

  app.get<ById>('/v1/imports/:id/stream', {
    config,
    schema: described({
      operationId: 'streamImport',
      tag,
      summary: 'Stream the progress of an import',
      description: 'Server-sent events `progress` and, as the last one, `end`, with the import as `data`.',
      params: idParameter,
      answer: contentOf({ 'text/event-stream': Type.String() }),
      failures: [404],
    }),
    handler: async (request, reply) => progress.send(findImport(request), request, reply),
  });
}

function addStoppingRoute(app: FastifyInstance, { importer }: ImportDependencies, findImport: FindImport): void {
  app.post<ById>('/v1/imports/:id/stop', {
    config,
    schema: described({
      operationId: 'stopImport',
      tag,
      summary: 'Stop an import that is running',
      description:
        'The import ends between two rows as `interrupted`, within seconds. The rows up to `lastLine` stay applied. ' +
        'An import that has ended stays as it is.',
      params: idParameter,
      answer: answerOf({ import: Import }),
      failures: [404],
    }),
    handler: async (request) => {
      const record = findImport(request);
      await importer.stop(callerOf(request), record._id);
      return { meta: success, import: await shownImport(importer, findImport(request)) };
    },
  });
}

/** Serves uploads, imports, their files and their progress. The importer is closed with the server. */
export const importRoutes: FastifyPluginAsync<ImportDependencies> = async (app, dependencies) => {
  const { importer, folder, maxFileBytes, uploadBounds, admitWrite } = dependencies;
  const uploads = await openUploadFolder(folder, { ...defaultUploadBounds, ...uploadBounds, maxFileBytes }, admitWrite);
  app.addHook('preClose', () => importer.close());
  const findImport: FindImport = (request) => found(importer.find(callerOf(request), request.params.id), 'import');

  addReadingRoutes(app, dependencies, findImport);
  addStoppingRoute(app, dependencies, findImport);
  addFileRoutes(app, dependencies);
  await app.register(batchRoutes, dependencies);
  await app.register(uploadRoutes, { ...dependencies, uploads });
};
