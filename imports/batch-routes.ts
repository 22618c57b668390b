/** Creates or updates geofences or beacons that a program sends as a list, with a result for each. */
import type { FastifyPluginAsync } from 'fastify';
import Type, { type TObject } from 'typebox';
import type { ApiDependencies } from '../api/dependencies.js';
import { createSerializer, maxUnfinishedBatches } from '../api/serialize.js';
import { callerOf } from '../http/access/authority.js';
import { answerOf, capitalized, described, describedRecords, success } from '../http/describe.js';
import { accepted, FieldReader, type RawFields } from '../http/fields/reader.js';
import { schemaOf } from '../http/fields/table.js';
import { parameterError } from '../schemas/errors.js';
import { Id } from '../schemas/json/common.js';
import { applyBatch, type BatchResult, maxBatchRecords } from './batch.js';
import { geometryResolver, type ImportedKind, importedKinds, requirePlan, resourceOf, tableOf } from './resources.js';

/** Limit of a batch: a thousand polygons of some hundred vertices. */
const maxBatchBytes = 8 * 2 ** 20;

/** The parameter that makes a batch or an import write nothing. */
export const dryRunParameter = {
  dryRun: Type.Optional(Type.Boolean({ default: false, description: 'Write nothing; list what would be done' })),
};

const Result = Type.Object({
  index: Type.Integer({ description: 'Counted from 0' }),
  action: Type.Enum(['created', 'updated', 'unchanged', 'rejected']),
  _id: Type.Optional(Id),
  tag: Type.Optional(Type.String()),
  externalId: Type.Optional(Type.String()),
  error: Type.Optional(Type.Object({ type: Type.String(), param: Type.String(), message: Type.String() })),
});

const answer = answerOf({
  created: Type.Integer(),
  updated: Type.Integer(),
  unchanged: Type.Integer(),
  rejected: Type.Integer(),
  results: Type.Array(Result),
});

/** Returns the records of a body. Throws `invalid_parameter` for other fields, no list, or too long a list. */
function recordsOf(body: unknown, schema: TObject, name: string): readonly unknown[] {
  const given = describedRecords(body, schema, name);
  if (given.length > maxBatchRecords)
    throw parameterError({ param: name, rule: `must have at most ${maxBatchRecords} records; use an import` });
  return given;
}

function isDryRunOf(query: RawFields): boolean {
  const reader = new FieldReader(query);
  const isDryRun = reader.boolean('dryRun') ?? false;
  return accepted(reader.outcome(() => isDryRun));
}

function countsOf(results: readonly BatchResult[]) {
  const count = (action: BatchResult['action']): number => results.filter((result) => result.action === action).length;
  return {
    created: count('created'),
    updated: count('updated'),
    unchanged: count('unchanged'),
    rejected: count('rejected'),
  };
}

/** What the routes of batches work with. */
export type BatchDependencies = Pick<
  ApiDependencies,
  'configuration' | 'writer' | 'geometrySources' | 'arePlansEnabled'
>;

/** Serves POST /v1/geofences/batch and /v1/beacons/batch. Batches of one project run one after another. */
export const batchRoutes: FastifyPluginAsync<BatchDependencies> = async (app, dependencies) => {
  const serialize = createSerializer(maxUnfinishedBatches);

  function addBatch(kind: ImportedKind): void {
    const name = `${kind}s`;
    const body = Type.Object({ [name]: Type.Array(schemaOf(tableOf(kind)), { maxItems: maxBatchRecords }) });
    app.post(`/v1/${name}/batch`, {
      config: { authority: 'secret', limit: 'management' },
      bodyLimit: maxBatchBytes,
      schema: described({
        operationId: `upsert${capitalized(name)}`,
        tag: name,
        summary: `Create or update up to ${maxBatchRecords} ${name}`,
        description:
          'Each record is created or updated by its pair of tag and externalId. Bad records are reported and the ' +
          'others are applied.',
        querystring: Type.Object(dryRunParameter),
        body,
        answer,
      }),
      handler: async (request) => {
        const scope = callerOf(request);
        const records = recordsOf(request.body, body, name);
        const isDryRun = isDryRunOf(request.query as RawFields);
        requirePlan(dependencies, kind, scope);
        const resource = resourceOf(
          kind,
          { configuration: dependencies.configuration, resolve: geometryResolver(dependencies) },
          scope,
        );
        // Batches of a project run one after another, so that others have their turn in between.
        const { confirmAuthority } = request;
        const results = await serialize(scope.project, () =>
          applyBatch({ ...dependencies, confirmAuthority }, resource, records, isDryRun),
        );
        return { meta: success, ...countsOf(results), results };
      },
    });
  }

  for (const kind of importedKinds) addBatch(kind);
};
