/** The small calls that SDKs make beside tracking: conversions and logs. */
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { isToldAll } from '../../http/access/disclosure.js';
import type { Caller } from '../../http/access/keys.js';
import { jsonField } from '../../http/fields/structures.js';
import { accepted, describeOnly } from '../../http/fields/validation.js';
import { asOverload } from '../../ingest/intake.js';
import { storedState } from '../../ingest/last-known.js';
import type { IngestParts } from '../../ingest/parts.js';
import { ConversionAnswer, ConversionRequest, Done } from '../../ingest/schemas.js';
import { topics } from '../../pipeline/ports.js';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { ApiError } from '../../schemas/errors.js';
import type { UserState } from '../../schemas/records.js';
import { eventJson } from '../../schemas/wire/user.js';
import { type ConversionFields, conversionAsSent, conversionName, isReserved, readConversion } from './conversion.js';

const done = { meta: { code: 200 } };

export const clientCallRoutes: FastifyPluginAsync<IngestParts> = async (plugin, parts) => {
  const app = plugin.withTypeProvider<TypeBoxTypeProvider>();
  const { log, clock, metrics, bounds } = parts;
  const config = { authority: 'publishable', limit: 'query' } as const;

  /** The stored user that a conversion is about: the device's, or that of the user it names. */
  async function userOf(fields: ConversionFields, caller: Caller): Promise<UserState | undefined> {
    if (fields.deviceId === undefined) return undefined;
    const users = (await storedState({ ...caller, deviceId: fields.deviceId }, parts))?.users ?? [];
    return fields.userId === undefined ? users[0] : users.find(({ userId }) => userId === fields.userId);
  }

  app.post(
    '/v1/events',
    {
      config,
      schema: {
        summary: 'Report an event of your own',
        tags: ['events'],
        body: ConversionRequest,
        response: { 200: ConversionAnswer },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const fields = request.body as ConversionFields;
      const name = accepted(conversionName(fields));
      if (isReserved(name) && caller.kind !== 'secret') {
        throw new ApiError('forbidden', 'names that start with user. need a secret key', { param: 'name' });
      }
      const event = accepted(readConversion(fields, caller, await userOf(fields, caller), clock()));
      const key = deviceKey({ ...caller, deviceId: fields.deviceId ?? event.id });
      try {
        await log.append(topics.events, [{ key, value: codecs.event.encode(event) }]);
      } catch (error) {
        throw asOverload(error);
      }
      metrics.add('conversions_accepted_total', 1);
      return { meta: { code: 200 }, event: eventJson(isToldAll(caller) ? event : conversionAsSent(event, fields)) };
    },
  );

  app.post(
    '/v1/logs',
    {
      config,
      bodyLimit: bounds.maxReplayBodyBytes,
      schema: {
        summary: 'Log lines of SDKs: counted, not kept',
        tags: ['sdk'],
        body: Type.Object({ logs: Type.Array(Type.Unknown()) }),
        response: { 200: Done },
      },
      validatorCompiler: describeOnly,
    },
    async (request) => {
      const given = jsonField('logs', (request.body as { logs?: unknown } | undefined)?.logs);
      if (given.ok && Array.isArray(given.value)) metrics.add('client_log_lines_total', given.value.length);
      return done;
    },
  );
};
