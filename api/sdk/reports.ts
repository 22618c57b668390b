/** What SDKs report besides locations: conversions and log lines. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { readsEverything } from '../../http/access/disclosure.js';
import type { Caller } from '../../http/access/keys.js';
import { bodyFields, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { readStructure } from '../../http/fields/structures.js';
import { topics } from '../../pipeline/ports.js';
import { deviceKey } from '../../pipeline/records/device-key.js';
import { codecs } from '../../schemas/codecs.js';
import { fieldError } from '../../schemas/errors.js';
import type { UserState } from '../../schemas/records.js';
import { eventJson } from '../../schemas/wire/user.js';
import { type Conversion, eventAsSent, eventOf, isReserved, readConversion } from './conversion.js';
import type { SdkDependencies } from './dependencies.js';
import { ConversionAnswer, ConversionRequest, Done } from './schemas.js';

/** Serves POST /v1/events for conversions, which become events, and POST /v1/logs, which are counted and dropped. */
export const reportRoutes: FastifyPluginAsync<SdkDependencies> = async (
  app,
  { log, states, clock, metrics, maxLogsBytes },
) => {
  const config = { authority: 'publishable', limit: 'query' } as const;

  /** Returns the stored user of the conversion: that of the device, or the one that the conversion names. */
  async function userOf({ deviceId, userId }: Conversion, caller: Caller): Promise<UserState | undefined> {
    if (deviceId === null) return undefined;
    const users = (await states(caller, deviceId))?.users ?? [];
    return userId === null ? users[0] : users.find((user) => user.userId === userId);
  }

  app.post(
    '/v1/events',
    {
      config,
      schema: {
        summary: 'Report a conversion, an event of your own',
        tags: ['events'],
        body: ConversionRequest,
        response: { 200: ConversionAnswer },
      },
    },
    async (request) => {
      const caller = callerOf(request);
      const nowMs = clock();
      const conversion = accepted(readConversion(bodyFields(request.body), nowMs));
      if (isReserved(conversion.name) && caller.kind !== 'secret') {
        throw fieldError('forbidden', { param: 'name', rule: 'names that start with user. require a secret key' });
      }
      const event = eventOf(conversion, caller, await userOf(conversion, caller), nowMs);
      const key = deviceKey({ ...caller, deviceId: conversion.deviceId ?? event.id });
      await log.append(topics.events, [{ key, value: codecs.event.encode(event) }]);
      metrics.add('conversions_accepted_total', 1);
      return { meta: success, event: eventJson(readsEverything(caller) ? event : eventAsSent(event, conversion)) };
    },
  );

  app.post(
    '/v1/logs',
    {
      config: { ...config, isRepeatable: true },
      bodyLimit: maxLogsBytes,
      schema: {
        summary: 'Count log lines of an SDK; they are not stored',
        tags: ['sdk'],
        body: Type.Object({ logs: Type.Array(Type.Unknown()) }),
        response: { 200: Done },
      },
    },
    async (request) => {
      const logs = readStructure('logs', (request.body as { logs?: unknown } | undefined)?.logs);
      if (logs.ok && Array.isArray(logs.value)) metrics.add('client_log_lines_total', logs.value.length);
      return { meta: success };
    },
  );
};
