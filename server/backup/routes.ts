/** Routes of an embedded node that `fenceline backup` calls while it runs. They require the admin API key. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { snapshotIdPattern } from '../../backends/embedded/analytics-snapshot.js';
import { answerOf, type ById, described, idParameter, success } from '../../http/describe.js';
import { ApiError } from '../../schemas/errors.js';
import { freshId } from '../../schemas/ids.js';
import { encryptionKeyFingerprint } from '../keys/encryption-key.js';
import type { AnalyticsSnapshots } from '../threads/analytics-worker.js';

const Snapshot = Type.Object(
  {
    _id: Type.String(),
    encryptionKeySha256: Type.String({ description: 'SHA-256 of the key that encrypts the secrets of webhooks' }),
    tables: Type.Array(
      Type.Object({
        name: Type.String(),
        create: Type.String({ description: 'The statement that creates it' }),
        folder: Type.Union([Type.String(), Type.Null()], {
          description: 'Folder of its parts, relative to `analytics/` of the data folder',
        }),
      }),
    ),
  },
  { $id: 'BackupSnapshot', description: 'Tables of analytics as of one moment, for a backup' },
);

interface BackupRoutesParts {
  readonly analytics: AnalyticsSnapshots;
  readonly encryptionKey: Buffer;
}

/** Returns the routes as a plugin. Snapshots belong to the analytics engine, which removes them at its next start. */
export const backupRoutes =
  ({ analytics, encryptionKey }: BackupRoutesParts): FastifyPluginAsync =>
  async (app) => {
    const config = { authority: 'admin', limit: 'none' } as const;
    app.post('/v1/backup-snapshots', {
      config,
      schema: described({
        operationId: 'createBackupSnapshot',
        tag: 'operations',
        summary: 'Freeze the tables of analytics for a backup',
        description:
          'Used by `fenceline backup`. The node keeps three snapshots at most, for about a day, and none beyond its ' +
          'next start. They take space as the tables change.',
        answer: answerOf({ snapshot: Snapshot }),
      }),
      handler: async () => {
        const _id = freshId();
        const tables = await analytics.freeze(_id);
        return {
          meta: success,
          snapshot: { _id, encryptionKeySha256: encryptionKeyFingerprint(encryptionKey), tables },
        };
      },
    });

    app.delete<ById>('/v1/backup-snapshots/:id', {
      config,
      schema: described({
        operationId: 'deleteBackupSnapshot',
        tag: 'operations',
        summary: 'Remove the snapshot of a backup that has ended',
        params: idParameter,
        answer: answerOf(),
        failures: [404],
      }),
      handler: async ({ params }) => {
        if (!snapshotIdPattern.test(params.id)) throw new ApiError('not_found', 'there is no such snapshot');
        await analytics.unfreeze(params.id);
        return { meta: success };
      },
    });
  };
