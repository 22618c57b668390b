/**
 * Imports files of geofences and beacons.
 *
 * Input: a file as the body, or in a form. Output: the import, when it has ended or after the time that the
 * caller waits for it.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import Type from 'typebox';
import type { ApiDependencies } from '../api/dependencies.js';
import { callerOf } from '../http/access/authority.js';
import { confirmStillAuthorized, withdrawalOf } from '../http/access/revocation.js';
import { sendFailure } from '../http/answers/failures.js';
import { failureAnswer } from '../http/declared-failures.js';
import { answerOf, capitalized, contentOf, described } from '../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../http/fields/reader.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import { Import, type ImportRecord } from '../schemas/json/import.js';
import { dryRunParameter } from './batch-routes.js';
import type { ImportRequest } from './execution.js';
import type { Importer, StartedImport } from './importer.js';
import { shownImport } from './progress-stream.js';
import { type ImportedKind, importedKinds, requirePlan } from './resources.js';
import { refuseOtherTypes, type UploadFolder, uploadTypes } from './uploads.js';

/** What the routes of uploads work with. */
export interface UploadDependencies extends Pick<ApiDependencies, 'configuration' | 'arePlansEnabled'> {
  readonly importer: Importer;
  readonly uploads: UploadFolder;
  /** Throws while nothing can be stored. */
  readonly admitWrite?: () => void;
}

const defaultWaitS = 10;
const maxWaitS = 60;

const parameters = Type.Object({
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

const answer = answerOf({ import: Import });
/** A failure shows the import as well if there was one. */
const importOfFailure = { import: Type.Optional(Import) };

/** Adds to a description that an import may go on after the answer, and that failures show it. */
function withImports(description: FastifySchema): FastifySchema {
  return {
    ...description,
    response: {
      ...(description.response as object),
      202: { ...answer, description: 'The import goes on' },
      400: failureAnswer(400, importOfFailure),
      503: failureAnswer(503, importOfFailure),
    },
  };
}

const fileBody = contentOf(
  Object.fromEntries(
    uploadTypes.map((type) => [
      type,
      type === 'multipart/form-data'
        ? Type.Object({ file: Type.String({ contentMediaType: 'application/octet-stream' }) })
        : Type.String({ contentMediaType: type }),
    ]),
  ),
);

function readQuery(query: RawFields) {
  const reader = new FieldReader(query);
  const isDryRun = reader.boolean('dryRun') ?? false;
  const fileName = reader.text('fileName');
  const waitS = reader.number('wait', { minimum: 0, maximum: maxWaitS, unit: 'seconds' }) ?? defaultWaitS;
  return reader.outcome(() => ({ isDryRun, fileName, waitS }));
}

/** Returns the refusal of a file that could not be read to its end; undefined if it could. */
function refusalOf({ status, failure }: ImportRecord): ApiError | undefined {
  if (status !== 'failed' || failure === null) return undefined;
  const { line, column, rule } = failure;
  if (column === 'import') return new ApiError('unavailable', `line ${line}: the import ${rule}`, { retryAfterS: 5 });
  const place = line > 0 ? `line ${line}: ` : '';
  return new ApiError('invalid_parameter', `${place}${column}: ${rule}`, { param: column });
}

function requesterOf(request: FastifyRequest): ImportRequest['requestedBy'] {
  const { keyHint } = callerOf(request);
  return request.session
    ? { kind: 'account', name: request.session.account?._id ?? keyHint }
    : { kind: 'key', name: keyHint };
}

/** Serves POST /v1/geofences/import and /v1/beacons/import. An import goes on when its client has left. */
export const uploadRoutes: FastifyPluginAsync<UploadDependencies> = async (app, dependencies) => {
  const { importer, uploads } = dependencies;

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

  async function upload(request: FastifyRequest, reply: FastifyReply, kind: ImportedKind) {
    const { project, environment } = callerOf(request);
    const scope: Scope = { project, environment };
    const { isDryRun, fileName, waitS } = accepted(readQuery(request.query as RawFields));
    refuseOtherTypes(request);
    requirePlan(dependencies, kind, scope);
    dependencies.admitWrite?.();
    await importer.check(scope);
    const asked = { resource: kind, isDryRun, fileName, requestedBy: requesterOf(request) };
    const { id, finished } = await startReceived(scope, request, asked);
    const record = await Promise.race([finished, delay(waitS * 1_000, undefined, { ref: false })]);
    const current = record ?? importer.find(scope, id) ?? (await finished);
    const shown = await shownImport(importer, current);
    const refusal = refusalOf(current);
    if (refusal) return sendFailure(refusal, request, reply, { import: shown });
    const isRunning = current.status === 'running';
    if (isRunning) reply.header('Location', `/v1/imports/${current._id}`);
    const code = isRunning ? 202 : 200;
    return reply.code(code).send({ meta: { code }, import: shown });
  }

  function addUpload(files: FastifyInstance, kind: ImportedKind): void {
    const name = `${kind}s`;
    files.post(`/v1/${name}/import`, {
      config: { authority: 'secret', limit: 'management', isRepeatable: true, streamsBody: true },
      schema: {
        ...withImports(
          described({
            operationId: `import${capitalized(name)}`,
            tag: name,
            summary: `Import a file of ${name}`,
            description:
              'CSV with a header, a GeoJSON FeatureCollection, or lines of JSON; gzip is accepted. Each row is ' +
              'created or updated by its pair of tag and externalId. Bad rows are reported and the others are ' +
              'applied. A project runs one import at a time.',
            querystring: parameters,
            answer,
            failures: [409],
          }),
        ),
        consumes: [...uploadTypes],
        body: fileBody,
      },
      handler: async (request, reply) => upload(request, reply, kind),
    });
  }

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));
  for (const kind of importedKinds) addUpload(app, kind);
};
