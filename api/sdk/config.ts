/**
 * GET /v1/config: the configuration that SDKs read when they start. It mirrors the project's settings, so that offline
 * decisions of an SDK agree with the server's.
 */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import type { RawFields } from '../../http/fields/reader.js';
import { readStructure } from '../../http/fields/structures.js';
import { isDictionary } from '../../http/fields/values.js';
import type { ConfigurationReader, Scope } from '../../pipeline/catalog/types.js';
import { defaultSettings, type Settings } from '../../schemas/json/project.js';
import type { SdkDependencies } from './dependencies.js';

/** Returns the settings of a project and environment. */
export const settingsOf = (configuration: ConfigurationReader, { project, environment }: Scope): Settings =>
  configuration.project(project)?.settings[environment] ?? defaultSettings;

/** The levels that SDKs know. The SDK for Android throws on others. */
const logLevels = ['none', 'error', 'warning', 'info', 'debug'] as const;
type LogLevel = (typeof logLevels)[number];

/**
 * Returns the level that the app has set with `setLogLevel`. The SDK reports it here, and uses the level of the answer.
 */
function logLevelOf(query: RawFields): LogLevel {
  const client = readStructure('clientSdkConfiguration', query.clientSdkConfiguration);
  const level = client.ok && isDictionary(client.value) ? client.value.logLevel : undefined;
  return logLevels.find((known) => known === level) ?? 'info';
}

const sdkConfiguration = (settings: Settings, logLevel: LogLevel) => ({
  logLevel,
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

const ConfigQuery = Type.Object({
  clientSdkConfiguration: Type.Optional(
    Type.String({ description: 'What the app has set, as JSON. Its logLevel is answered' }),
  ),
});

/** Serves GET /v1/config. */
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
        querystring: ConfigQuery,
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
        sdkConfiguration: sdkConfiguration(
          settingsOf(configuration, callerOf(request)),
          logLevelOf(request.query as RawFields),
        ),
      },
    }),
  );
};
