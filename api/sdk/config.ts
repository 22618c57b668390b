/**
 * GET /v1/config: what SDKs ask when they start. The project's settings are mirrored, so that decisions they make
 * offline agree with ours.
 */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import type { IngestParts } from '../../ingest/parts.js';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import { defaultSettings, type Settings } from '../../schemas/json/project.js';

/** The settings of the caller's project and environment. */
export const settingsOf = (configuration: ConfigurationReader, { project, environment }: Scope): Settings =>
  configuration.project(project)?.settings[environment] ?? defaultSettings;

/** `logLevel` must be one that Android knows, or its SDK fails. */
const sdkConfiguration = (settings: Settings) => ({
  logLevel: 'info',
  startTrackingOnInitialize: false,
  trackOnceOnAppOpen: false,
  useOpenedAppConversion: false,
  useSyncRegion: false,
  offlineEventGenerationEnabled: false,
  stopDetection: settings.stopDetection,
  bufferGeofenceEntries: settings.bufferEntries,
  bufferGeofenceExits: settings.bufferExits,
  defaultGeofenceDwellThreshold: settings.dwellEvents ? (settings.defaultDwellThreshold ?? 0) : 0,
});

export const configRoutes: FastifyPluginAsync<IngestParts> = async (app, { configuration }) => {
  app.get(
    '/v1/config',
    {
      config: { authority: 'publishable', limit: 'query' },
      schema: {
        summary: 'Configuration of SDKs',
        tags: ['sdk'],
        response: {
          200: Type.Object({
            meta: Type.Object({
              code: Type.Integer(),
              featureSettings: Type.Record(Type.String(), Type.Unknown()),
              sdkConfiguration: Type.Record(Type.String(), Type.Unknown()),
            }),
          }),
        },
      },
    },
    async (request) => ({
      meta: {
        code: 200,
        featureSettings: {},
        sdkConfiguration: sdkConfiguration(settingsOf(configuration, callerOf(request))),
      },
    }),
  );
};
