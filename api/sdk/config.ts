/**
 * GET /v1/config: the configuration that SDKs read when they start. It mirrors the project's settings, so that offline
 * decisions of an SDK agree with the server's.
 */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import { defaultSettings, type Settings } from '../../schemas/json/project.js';
import type { SdkDependencies } from './dependencies.js';

/** Returns the settings of a project and environment. */
export const settingsOf = (configuration: ConfigurationReader, { project, environment }: Scope): Settings =>
  configuration.project(project)?.settings[environment] ?? defaultSettings;

/** `logLevel` must be a level that the Android SDK knows; it throws on others. */
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

export const configRoutes: FastifyPluginAsync<Pick<SdkDependencies, 'configuration'>> = async (
  app,
  { configuration },
) => {
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
