/** The routes of the demo: start, state, stop and remove. */
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../http/access/authority.js';
import { answerOf, described, success } from '../http/describe.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { ApiError } from '../schemas/errors.js';
import { Timestamp } from '../schemas/json/common.js';
import { isoTime } from '../schemas/wire/common.js';
import { demoTag } from './geofences.js';
import { createDemo, type DemoParts, demoBounds } from './run.js';

const tag = 'demo';
const config = { authority: 'secret', limit: 'management' } as const;

const DemoAnswer = answerOf({
  demo: Type.Object({
    available: Type.Boolean({ description: 'The operator allows it, and this is the test environment' }),
    running: Type.Boolean(),
    geofences: Type.Integer({ description: `Geofences with the tag ${demoTag}` }),
    devices: Type.Integer(),
    locations: Type.Integer({ description: 'Sent by this run so far' }),
    startedAt: Type.Optional(Timestamp),
    endsAt: Type.Optional(Timestamp),
  }),
});

/** Creates the plugin of the routes. Closing the server ends the runs of this node. */
export const demoRoutes =
  ({ isEnabled, ...parts }: DemoParts & { readonly isEnabled: boolean }): FastifyPluginAsync =>
  async (app) => {
    const demo = createDemo(parts);
    app.addHook('onClose', () => demo.close());

    async function answer(scope: Scope) {
      const running = await demo.running(scope);
      return {
        meta: success,
        demo: {
          available: isEnabled && scope.environment === 'test',
          running: running !== undefined,
          geofences: demo.geofences(scope),
          devices: demoBounds.devices,
          locations: running?.locations ?? 0,
          ...(running && { startedAt: isoTime(running.startedAtMs), endsAt: isoTime(running.endsAtMs) }),
        },
      };
    }

    function scopeOf(request: FastifyRequest): Scope {
      const { project, environment } = callerOf(request);
      if (!isEnabled) throw new ApiError('not_available', 'this installation does not offer the demo');
      if (environment !== 'test') throw new ApiError('forbidden', 'the demo runs in the test environment only');
      return { project, environment };
    }

    app.get('/v1/demo', {
      config,
      schema: described({
        operationId: 'getDemo',
        tag,
        summary: 'Get the state of the demo',
        answer: DemoAnswer,
      }),
      handler: async (request) => {
        const { project, environment } = callerOf(request);
        return environment === 'test' ? answer({ project, environment }) : unavailable;
      },
    });

    app.post('/v1/demo', {
      config,
      schema: described({
        operationId: 'startDemo',
        tag,
        summary: 'Run the demo city',
        description:
          `Creates a few hundred geofences with the tag ${demoTag} in the test environment. ` +
          `Then ${demoBounds.devices} devices move through them for ${demoBounds.durationMs / 60_000} minutes, ` +
          'with 20 locations a second in all. ' +
          'A project has one run at a time; a second request is answered 409.',
        answer: DemoAnswer,
        failures: [409],
      }),
      handler: async (request) => {
        const scope = scopeOf(request);
        await demo.start(scope);
        return answer(scope);
      },
    });

    app.post('/v1/demo/stop', {
      config,
      schema: described({
        operationId: 'stopDemo',
        tag,
        summary: 'Stop the demo city',
        description: 'Its geofences stay. On another node than the one that runs it, it ends within seconds.',
        answer: DemoAnswer,
      }),
      handler: async (request) => {
        const scope = scopeOf(request);
        await demo.stop(scope);
        return answer(scope);
      },
    });

    app.delete('/v1/demo', {
      config,
      schema: described({
        operationId: 'removeDemo',
        tag,
        summary: 'Stop the demo city and delete its geofences',
        description: 'Events and users stay, as history.',
        answer: DemoAnswer,
        failures: [409],
      }),
      handler: async (request) => {
        const scope = scopeOf(request);
        await demo.remove(scope);
        return answer(scope);
      },
    });
  };

const unavailable = {
  meta: success,
  demo: { available: false, running: false, geofences: 0, devices: demoBounds.devices, locations: 0 },
};
