/**
 * The routes of imports: files of geofences and beacons, their progress and history, and batches of records.
 *
 * Flows in: requests with a secret key. Flows out: changes on topic `changes`, and the records of imports.
 */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import Type, { type TSchema } from 'typebox';
import type { ApiDependencies } from '../api/dependencies.js';
import { cursorParameter, encodeCursor, limitParameter, readCursor, readLimit } from '../api/lists.js';
import { requireBeaconPlan } from '../api/plans.js';
import { createSerializer } from '../api/serialize.js';
import { callerOf } from '../http/access/authority.js';
import { confirmStillAuthorized, endedByRevocation, endingOf, withdrawalOf } from '../http/access/revocation.js';
import { sendFailure } from '../http/answers/failures.js';
import { answerOf, bodyFields, capitalized, described, found, idParameter, listOf, success } from '../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../http/fields/reader.js';
import { schemaOf } from '../http/fields/table.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { hasElapsed } from '../schemas/elapsed.js';
import { ApiError, parameterError } from '../schemas/errors.js';
import { Id } from '../schemas/json/common.js';
import { Import, ImportedResourceName, type ImportFileName, type ImportRecord } from '../schemas/json/import.js';
import { createOpenCounts } from '../schemas/open-counts.js';
import { importJson } from '../schemas/wire/import.js';
import { applyBatch, maxBatchRecords } from './batch.js';
import type { ImportRequest } from './execution.js';
import { fileText } from './files.js';
import type { Importer, StartedImport } from './importer.js';
import { geometryResolver, type ImportedKind, resourceOf, tableOf } from './resources.js';
import { defaultUploadBounds, openUploadFolder, refuseOtherTypes, type UploadBounds, uploadTypes } from './uploads.js';

export interface ImportDependencies
  extends Pick<ApiDependencies, 'configuration' | 'writer' | 'geometrySources' | 'clock' | 'arePlansEnabled'> {
  readonly importer: Importer;
  /** Folder for files while they are received and imported. What is in it is removed at the start. */
  readonly folder: string;
  readonly maxFileBytes: number;
  readonly uploadBounds?: Partial<Omit<UploadBounds, 'maxFileBytes'>>;
  /** Throws while nothing can be stored. */
  readonly admitWrite?: () => void;
}

const tag = 'imports';
const config = { authority: 'secret', limit: 'management' } as const;
const kinds: readonly ImportedKind[] = ['geofence', 'beacon'];
const defaultWaitS = 10;
const maxWaitS = 60;
/** Limit of a batch: a thousand polygons of some hundred vertices. */
const maxBatchBytes = 8 * 2 ** 20;
/** Batches of a project that run or wait. */
const maxUnfinishedBatches = 32;
/** Interval at which streams look for progress. */
const streamEveryMs = 250;
const heartbeatMs = 15_000;
const maxStreams = 200;
/** A project runs one import at a time, so these are readers of one import. */
export const maxStreamsPerProject = 20;

type ById = { Params: { id: string } };

const fileBody = {
  content: Object.fromEntries(
    uploadTypes.map((type) => [
      type,
      {
        schema:
          type === 'multipart/form-data'
            ? Type.Object({ file: Type.String({ contentMediaType: 'application/octet-stream' }) })
            : Type.String({ contentMediaType: type }),
      },
    ]),
  ),
} as unknown as TSchema;

const dryRunParameter = {
  dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Write nothing; list what would be done' })),
};

const uploadParameters = Type.Object({
  ...dryRunParameter,
  fileName: Type.Optional(Type.String({ description: 'For the history; a form names its file itself' })),
  wait: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: maxWaitS,
      default: defaultWaitS,
      description: 'Seconds to wait for the end. A longer import is answered 202 while it runs',
    }),
  ),
});

const listParameters = Type.Object({
  resource: ImportedResourceName,
  ...limitParameter,
  ...cursorParameter,
});

function readUploadQuery(query: RawFields) {
  const reader = new FieldReader(query);
  const isDryRun = reader.boolean('dryRun') ?? false;
  const fileName = reader.text('fileName');
  const waitS = reader.number('wait', { minimum: 0, maximum: maxWaitS, unit: 'seconds' }) ?? defaultWaitS;
  return reader.outcome(() => ({ isDryRun, fileName, waitS }));
}

function readListQuery(query: RawFields) {
  const reader = new FieldReader(query);
  const resource = reader.requiredChoice('resource', ['geofences', 'beacons']);
  const limit = readLimit(reader);
  const cursor = readCursor(reader);
  return reader.outcome(() => ({ resource: resource!, limit, ...(cursor && { before: cursor }) }));
}

/** Returns the refusal of a file that could not be read to its end; undefined if it could. */
function refusalOf({ status, failure }: ImportRecord): ApiError | undefined {
  if (status !== 'failed' || failure === null) return undefined;
  const { line, column, rule } = failure;
  if (column === 'import') return new ApiError('unavailable', `line ${line}: the import ${rule}`, { retryAfterS: 5 });
  const place = line > 0 ? `line ${line}: ` : '';
  return new ApiError('invalid_parameter', `${place}${column}: ${rule}`, { param: column });
}

export const importRoutes: FastifyPluginAsync<ImportDependencies> = async (app, deps) => {
  const { importer, configuration, clock } = deps;
  const { folder, maxFileBytes, uploadBounds } = deps;
  const uploads = await openUploadFolder(folder, { ...defaultUploadBounds, ...uploadBounds, maxFileBytes });
  const serialize = createSerializer(maxUnfinishedBatches);
  const streams = createOpenCounts();
  app.addHook('preClose', () => importer.close());

  async function shown(record: ImportRecord, isDetailed = true) {
    return importJson(record, await importer.statusOf(record), { isDetailed });
  }
  const findImport = (request: FastifyRequest<ById>): ImportRecord =>
    found(importer.find(callerOf(request), request.params.id), 'import');

  async function* progressMessages(request: FastifyRequest<ById>, ending: AbortSignal): AsyncGenerator<string> {
    let last = '';
    let sentAtMs = clock();
    while (!ending.aborted) {
      const record = importer.find(callerOf(request), request.params.id);
      if (record === undefined) return;
      const json = await shown(record, record.status !== 'running');
      const data = JSON.stringify(json);
      const isEnd = json.status !== 'running';
      if (data !== last || isEnd) yield `event: ${isEnd ? 'end' : 'progress'}\ndata: ${data}\n\n`;
      else if (hasElapsed(heartbeatMs, sentAtMs, clock())) yield ': heartbeat\n\n';
      if (data !== last || hasElapsed(heartbeatMs, sentAtMs, clock())) sentAtMs = clock();
      last = data;
      if (isEnd) return;
      await delay(streamEveryMs);
    }
  }

  function admitStream(project: string): void {
    if (streams.of(project) >= maxStreamsPerProject) {
      const rule = `${maxStreamsPerProject} streams of progress of this project are open`;
      throw new ApiError('overloaded', rule, { retryAfterS: 5 });
    }
    if (streams.total >= maxStreams)
      throw new ApiError('overloaded', 'too many streams of progress are open', { retryAfterS: 5 });
  }

  function sendStream(request: FastifyRequest<ById>, reply: FastifyReply): FastifyReply {
    const { project } = findImport(request);
    admitStream(project);
    const messages = progressMessages(request, endingOf(request, reply));
    const output = Readable.from(messages, { objectMode: false });
    output.once('close', streams.add(project));
    return reply
      .headers({ 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' })
      .send(output);
  }

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
      failures: [400],
    }),
    handler: async (request) => {
      const query = accepted(readListQuery(request.query as RawFields));
      const { project, environment } = callerOf(request);
      const { items, hasMore } = configuration.imports.list({ project, environment, ...query });
      const last = items.at(-1);
      const cursor = hasMore && last && encodeCursor({ timeMs: last.createdAt, id: last._id });
      const imports = await Promise.all(
        items.map((record) => shown(importer.find(record, record._id) ?? record, false)),
      );
      return { meta: { ...success, hasMore, ...(cursor && { cursor }) }, imports, maxFileBytes };
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
      if (request.headers.accept?.includes('text/event-stream')) return sendStream(request, reply);
      return { meta: success, import: await shown(findImport(request)) };
    },
  });

  app.get<ById>('/v1/imports/:id/stream', {
    config,
    exposeHeadRoute: false,
    schema: described({
      operationId: 'streamImport',
      tag,
      summary: 'Stream the progress of an import',
      description: 'Server-sent events `progress` and, as the last one, `end`, with the import as `data`.',
      params: idParameter,
      answer: { content: { 'text/event-stream': { schema: Type.String() } } } as unknown as TSchema,
      failures: [404, 503],
    }),
    handler: async (request, reply) => sendStream(request, reply),
  });

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
      return { meta: success, import: await shown(findImport(request)) };
    },
  });

  function addFile(name: ImportFileName, operationId: string, summary: string, description: string): void {
    app.get<ById>(`/v1/imports/:id/${name}.csv`, {
      config,
      schema: described({
        operationId,
        tag,
        summary,
        description,
        params: idParameter,
        answer: { content: { 'text/csv': { schema: Type.String() } } } as unknown as TSchema,
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
  addFile(
    'rejected',
    'getRejectedRows',
    'Get the bad rows of an import as CSV',
    'The columns of the file, and what is wrong with each row. Correct the rows and import the file: the added ' +
      'columns are ignored.',
  );
  addFile(
    'planned',
    'getPlannedRows',
    'Get the rows of a dry run as CSV',
    'Which rows would be created, updated or left unchanged.',
  );

  function admitKind(kind: ImportedKind, scope: Pick<Scope, 'project'>): void {
    if (kind === 'beacon') requireBeaconPlan(deps, scope);
  }

  for (const kind of kinds) addBatch(kind);
  await app.register(async (files) => {
    files.removeAllContentTypeParsers();
    files.addContentTypeParser('*', (_request, body, done) => done(null, body));
    for (const kind of kinds) addUpload(files, kind);
  });

  function addBatch(kind: ImportedKind): void {
    const name = `${kind}s`;
    const records = schemaOf(tableOf(kind));
    const Result = Type.Object({
      index: Type.Integer({ description: 'Counted from 0' }),
      action: Type.Enum(['created', 'updated', 'unchanged', 'rejected']),
      _id: Type.Optional(Id),
      tag: Type.Optional(Type.String()),
      externalId: Type.Optional(Type.String()),
      error: Type.Optional(Type.Object({ type: Type.String(), param: Type.String(), message: Type.String() })),
    });
    app.post(`/v1/${name}/batch`, {
      config,
      bodyLimit: maxBatchBytes,
      schema: described({
        operationId: `upsert${capitalized(name)}`,
        tag: name,
        summary: `Create or update up to ${maxBatchRecords} ${name}`,
        description:
          'Each record is created or updated by its pair of tag and externalId. Bad records are reported and the ' +
          'others are applied.',
        querystring: Type.Object(dryRunParameter),
        body: Type.Object({ [name]: Type.Array(records, { maxItems: maxBatchRecords }) }),
        answer: answerOf({
          created: Type.Integer(),
          updated: Type.Integer(),
          unchanged: Type.Integer(),
          rejected: Type.Integer(),
          results: Type.Array(Result),
        }),
        failures: [400, 413, 503],
      }),
      handler: async (request) => {
        const scope = callerOf(request);
        const given = bodyFields(request.body)[name];
        if (!Array.isArray(given)) throw parameterError({ param: name, rule: `must be a list of ${name}` });
        if (given.length > maxBatchRecords)
          throw parameterError({ param: name, rule: `must have at most ${maxBatchRecords} records; use an import` });
        const reader = new FieldReader(request.query as RawFields);
        const isDryRun = reader.boolean('dryRun') ?? false;
        accepted(reader.outcome(() => undefined));
        admitKind(kind, scope);
        const resource = resourceOf(kind, { configuration, resolve: geometryResolver(deps) }, scope);
        // Batches of a project run one after another, so that others have their turn in between.
        const { confirmAuthority } = request;
        const results = await serialize(scope.project, () =>
          applyBatch({ ...deps, confirmAuthority }, resource, given, isDryRun),
        );
        const count = (action: string): number => results.filter((result) => result.action === action).length;
        return {
          meta: success,
          created: count('created'),
          updated: count('updated'),
          unchanged: count('unchanged'),
          rejected: count('rejected'),
          results,
        };
      },
    });
  }

  function addUpload(files: typeof app, kind: ImportedKind): void {
    const name = `${kind}s`;
    files.post(`/v1/${name}/import`, {
      config: { ...config, isRepeatable: true, streamsBody: true },
      schema: {
        ...described({
          operationId: `import${capitalized(name)}`,
          tag: name,
          summary: `Import a file of ${name}`,
          description:
            'CSV with a header, a GeoJSON FeatureCollection, or lines of JSON; gzip is accepted. Each row is created ' +
            'or updated by its pair of tag and externalId. Bad rows are reported and the others are applied. A ' +
            'project runs one import at a time.',
          querystring: uploadParameters,
          answer: answerOf({ import: Import }),
          failures: [400, 409, 413, 503],
        }),
        consumes: [...uploadTypes],
        body: fileBody,
      },
      handler: async (request, reply) => upload(request, reply, kind),
    });
  }

  async function upload(request: FastifyRequest, reply: FastifyReply, kind: ImportedKind) {
    const { project, environment, keyHint } = callerOf(request);
    const { isDryRun, fileName, waitS } = accepted(readUploadQuery(request.query as RawFields));
    refuseOtherTypes(request);
    admitKind(kind, { project });
    deps.admitWrite?.();
    const scope: Scope = { project, environment };
    await importer.check(scope);
    const { id, finished } = await startReceived(scope, request, {
      resource: kind,
      isDryRun,
      fileName,
      requestedBy: request.session
        ? { kind: 'account', name: request.session.account?._id ?? keyHint }
        : { kind: 'key', name: keyHint },
    });
    const record = await Promise.race([finished, delay(waitS * 1_000, undefined, { ref: false })]);
    const current = record ?? importer.find(scope, id) ?? (await finished);
    const refusal = refusalOf(current);
    if (refusal) return sendFailure(refusal, request, reply, { import: await shown(current) });
    const isRunning = current.status === 'running';
    if (isRunning) reply.header('Location', `/v1/imports/${current._id}`);
    return reply
      .code(isRunning ? 202 : 200)
      .send({ meta: { code: isRunning ? 202 : 200 }, import: await shown(current) });
  }

  /**
   * Receives the file and starts its import. The import is admitted when the file is complete, so that a slow upload
   * holds up no import.
   */
  async function startReceived(
    scope: Scope,
    request: FastifyRequest,
    asked: Pick<ImportRequest, 'resource' | 'isDryRun' | 'requestedBy'> & { readonly fileName: string | null },
  ): Promise<StartedImport> {
    const file = await uploads.receive(request, scope.project, asked.fileName);
    const { format, fileName, bytes } = file;
    const source = { path: file.path };
    const withdrawal = withdrawalOf(request);
    const { signal } = withdrawal;
    const end = (): Promise<void> => {
      withdrawal.end();
      return file.remove();
    };
    let started: StartedImport | undefined;
    try {
      // The file may have taken long to arrive.
      await confirmStillAuthorized(request);
      const permit = await importer.admit(scope);
      started = await importer.start(permit, { ...asked, scope, source, signal, format, fileName, bytesTotal: bytes });
    } finally {
      if (started === undefined) await end();
    }
    const finished = started.finished.finally(end);
    finished.catch(() => undefined);
    await started.underWay;
    return { ...started, finished };
  }
};
