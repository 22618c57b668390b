/** Serves the sync of the key's environment: GET, PUT and DELETE /v1/sync, and POST /v1/sync/run. */
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDependencies } from '../../api/dependencies.js';
import { createEditor, type Edit, sendRevision } from '../../api/edits.js';
import { callerOf } from '../../http/access/authority.js';
import { answerOf, bodyFields, described, found, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import type { Networks } from '../../outbound/addresses.js';
import type { Scope } from '../../pipeline/catalog/types.js';
import type { SecretCipher } from '../../pipeline/encryption.js';
import { ApiError } from '../../schemas/errors.js';
import { syncId } from '../../schemas/ids.js';
import { Sync, type SyncRecord } from '../../schemas/json/sync.js';
import { readSync, syncFields } from './fields.js';
import { inputOf, requestedSync, savedSync, syncJson } from './record.js';
import type { Schedule } from './schedule.js';

const tag = 'sync';
const config = { authority: 'secret', limit: 'management' } as const;
const answer = answerOf({ sync: Sync });

interface SyncRoutesParts extends Pick<ApiDependencies, 'configuration' | 'writer' | 'clock'> {
  readonly cipher: SecretCipher;
  readonly schedule: Schedule;
  /** Reserved networks that files may be read from nevertheless. */
  readonly allowedNetworks: Networks;
}

/** Returns an answer with the sync, without its secrets. */
type Shown = (record: SyncRecord) => { readonly meta: typeof success; readonly sync: ReturnType<typeof syncJson> };

function addReadingRoute(app: FastifyInstance, { configuration }: SyncRoutesParts, shown: Shown): void {
  app.get('/v1/sync', {
    config,
    schema: described({
      operationId: 'getSync',
      tag,
      summary: 'Get the sync of geofences',
      description: 'With the last run, its result and the time of the next one. The ETag changes with every run.',
      answer,
      failures: [404],
      entityTag: 'answered',
    }),
    handler: async (request, reply) => {
      const scope = callerOf(request);
      const record = found(configuration.sync(scope), 'sync');
      sendRevision(reply, configuration.revisionOf('sync', record._id));
      return shown(record);
    },
  });
}

/** Adds the routes that create the sync or change its fields. */
function addSavingRoutes(
  app: FastifyInstance,
  { configuration, cipher, allowedNetworks }: SyncRoutesParts,
  edit: Edit,
  shown: Shown,
): void {
  /** Saves the sync that follows from the existing one and the body. */
  const saving =
    (existingOf: (scope: Scope) => SyncRecord | undefined) => async (request: FastifyRequest, reply: FastifyReply) => {
      const scope = callerOf(request);
      const given = bodyFields(request.body);
      const saved = await edit({ request, reply }, syncId(scope), (nowMs) => {
        const existing = existingOf(scope);
        const before = existing && inputOf(existing, cipher);
        const input = accepted(readSync(before, given, allowedNetworks));
        const record = savedSync(scope, input, existing, cipher, nowMs);
        return { kind: 'sync', id: record._id, record, isExisting: existing !== undefined, result: record };
      });
      return shown(saved);
    };

  const savingDescribed = {
    tag,
    description:
      'Fields that are left out stay, including the credentials; null puts a field back to its default. ' +
      'A run starts within seconds, and then every night.',
    body: schemaOf(syncFields(allowedNetworks), { allOptional: true }),
    answer,
    entityTag: 'matched and answered',
  } as const;

  app.put('/v1/sync', {
    config,
    schema: described({
      operationId: 'saveSync',
      summary: 'Create or change the sync of geofences, and run it',
      ...savingDescribed,
      failures: [409],
    }),
    handler: saving((scope) => configuration.sync(scope)),
  });

  app.patch('/v1/sync', {
    config,
    schema: described({
      operationId: 'patchSync',
      summary: 'Change some fields of the sync, and run it',
      ...savingDescribed,
      failures: [404, 409],
    }),
    handler: saving((scope) => found(configuration.sync(scope), 'sync')),
  });
}

function addDeletingRoute(app: FastifyInstance, { configuration }: SyncRoutesParts, edit: Edit): void {
  app.delete('/v1/sync', {
    config,
    schema: described({
      operationId: 'deleteSync',
      tag,
      summary: 'Delete the sync of geofences, with its credentials',
      description: 'The geofences stay.',
      answer: answerOf(),
      failures: [404, 409],
      entityTag: 'matched',
    }),
    handler: async (request, reply) => {
      const scope = callerOf(request);
      await edit({ request, reply }, syncId(scope), () => {
        const { _id } = found(configuration.sync(scope), 'sync');
        return { kind: 'sync', id: _id, record: null, isExisting: true, result: null };
      });
      return { meta: success };
    },
  });
}

function addRunningRoute(app: FastifyInstance, { configuration }: SyncRoutesParts, edit: Edit, shown: Shown): void {
  app.post('/v1/sync/run', {
    config,
    schema: described({
      operationId: 'runSync',
      tag,
      summary: 'Run the sync now',
      description: 'The run starts within seconds, or after the one in progress. GET /v1/sync returns its result.',
      answer,
      failures: [404, 409],
      entityTag: 'matched and answered',
    }),
    handler: async (request, reply) => {
      const scope = callerOf(request);
      const requested = await edit({ request, reply }, syncId(scope), (nowMs) => {
        const existing = found(configuration.sync(scope), 'sync');
        if (!existing.enabled) throw new ApiError('conflict', 'the sync is not enabled');
        const record = requestedSync(existing, nowMs);
        return { kind: 'sync', id: record._id, record, isExisting: true, result: record };
      });
      return shown(requested);
    },
  });
}

/** Serves the sync of the key's environment. Its secrets are stored encrypted and never answered. */
export const syncRoutes =
  (parts: SyncRoutesParts): FastifyPluginAsync =>
  async (app) => {
    const { schedule, clock } = parts;
    const edit = createEditor(parts);
    const shown: Shown = (record) => ({ meta: success, sync: syncJson(record, schedule, clock()) });
    addReadingRoute(app, parts, shown);
    addSavingRoutes(app, parts, edit, shown);
    addDeletingRoute(app, parts, edit);
    addRunningRoute(app, parts, edit, shown);
  };
