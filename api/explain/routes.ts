/** Explain: why a location would or would not cause events. Nothing is stored. */
import type { FastifyPluginAsync } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf } from '../../http/access/revocation.js';
import { answerOf, bodyFields, described, success } from '../../http/describe.js';
import { accepted } from '../../http/fields/reader.js';
import { schemaOf } from '../../http/fields/table.js';
import { normalizeAddress } from '../../http/location/address.js';
import { TrackRequest } from '../../http/location/schema.js';
import type { ApiDependencies } from '../dependencies.js';
import { explainFields, readExplainRequest } from './request.js';
import { Explanation } from './schema.js';

const locationFields = {
  ...TrackRequest.properties,
  deviceId: Type.Optional(TrackRequest.properties.deviceId),
  ip: Type.Optional(Type.String({ description: 'Replaces the IP address of the request' })),
};
const { properties: others } = schemaOf(explainFields(0, null));
const ExplainBody = Type.Union(
  [Type.Object({ location: Type.Object(locationFields), ...others }), Type.Object({ ...locationFields, ...others })],
  { description: 'The fields of POST /v1/track, here or under `location`' },
);

/** Serves POST /v1/explain: evaluates a location against the stored or given state, without any effect. */
export const explainRoutes =
  ({ spatial, states, clock }: ApiDependencies): FastifyPluginAsync =>
  async (app) => {
    app.post('/v1/explain', {
      config: { authority: 'secret', limit: 'query', isRepeatable: true },
      schema: described({
        operationId: 'explain',
        tag: 'explain',
        summary: 'Explain the events that a location would cause',
        description:
          'For each candidate geofence: distance, share of overlap, confidence, and the rule that decided. ' +
          'When no geofence is near, the nearest ones are listed. `evaluatedAt` is the time of the location, ' +
          'at which all rules were evaluated.',
        body: ExplainBody,
        answer: answerOf({ explanation: Explanation }),
      }),
      handler: async (request, reply) => {
        const { project, environment } = callerOf(request);
        const scope = { project, environment };
        const callerIp = normalizeAddress(request.ip) ?? null;
        const { location, state, geofence } = accepted(
          readExplainRequest(scope, bodyFields(request.body), clock(), callerIp),
        );
        const before = state ?? (await states?.(scope, location.deviceId));
        const explanation = await spatial.explain(
          {
            ...scope,
            location,
            ...(before && { state: before }),
            ...(geofence !== undefined && { geofence }),
          },
          leavingOf(reply),
        );
        return { meta: success, explanation };
      },
    });
  };
