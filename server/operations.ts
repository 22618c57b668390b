/** Routes for operators: liveness, readiness and metrics. */
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import Type, { type TSchema } from 'typebox';
import { contentOf } from '../http/describe.js';
import { withinMs } from '../pipeline/time-limit.js';
import { ApiError } from '../schemas/errors.js';

interface OperationsDependencies {
  /** Resolves when every part is ready. Called with a time limit, once at a time. */
  readonly ready: () => Promise<unknown>;
  /** Returns the services without which a node is ready, but whose part it can't do yet. Default: none. */
  readonly waitsFor?: () => readonly string[];
  /** Returns the metrics in Prometheus text format. Called once at a time. */
  readonly exposition: () => Promise<string>;
}

interface Operations {
  /**
   * Lets `/health/ready` answer 200. Called when the keys of the first project are printed: a script looks for them
   * when the node is ready.
   */
  markStarted(): void;
}

const readyTimeoutMs = 2_000;

const liveness = Type.Object({ status: Type.String() });
const readiness = Type.Object({
  status: Type.String(),
  waitsFor: Type.Optional(
    Type.Array(Type.String(), { description: 'Services without which the node is ready, but a part of it is not' }),
  ),
});
const metrics = contentOf({ 'text/plain': Type.String({ description: 'In the text format of Prometheus' }) });

/**
 * Returns a function whose calls share the next answer, which is begun after all of them. One answer is made at a time,
 * so callers without a key cost no more than one of them does, and none gets an answer from before its call.
 */
export function sharingNext<T>(make: () => Promise<T>): () => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  return () => {
    if (next === undefined) {
      next = last.then(() => {
        next = undefined;
        return make();
      });
      last = next.catch(() => {});
    }
    return next;
  };
}

/** Adds `/health/live`, `/health/ready` and `/metrics`. */
export async function addOperations(
  app: FastifyInstance,
  { ready, waitsFor = () => [], exposition }: OperationsDependencies,
): Promise<Operations> {
  let isStarted = false;
  const sharedExposition = sharingNext(exposition);
  const sharedReadiness = sharingNext(() =>
    withinMs(readyTimeoutMs, ready(), () => new ApiError('unavailable', 'a part does not answer')),
  );
  const config = { authority: 'none', limit: 'none' } as const;
  const about = (summary: string, answer: TSchema) => ({
    config,
    schema: { tags: ['operations'], summary, response: { 200: { description: 'Success', ...answer } } },
  });
  const routes: FastifyPluginAsync = async (app) => {
    app.addHook('onRequest', async (_request, reply) => {
      reply.header('Cache-Control', 'no-store');
    });
    app.get('/health/live', about('The process answers', liveness), async () => ({ status: 'live' }));
    app.get('/health/ready', about('Every part can do its work', readiness), async () => {
      if (app.connections.isStopping) throw new ApiError('unavailable', 'the server is stopping');
      if (!isStarted) throw new ApiError('unavailable', 'the server is starting');
      await sharedReadiness();
      const missing = waitsFor();
      return { status: 'ready', ...(missing.length > 0 && { waitsFor: missing }) };
    });
    app.get('/metrics', about('Prometheus metrics', metrics), async (_, reply) => {
      return reply.type('text/plain; version=0.0.4; charset=utf-8').send(await sharedExposition());
    });
  };
  await app.register(routes);
  return {
    markStarted() {
      isStarted = true;
    },
  };
}
