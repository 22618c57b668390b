/**
 * Registers the routes that follow topic `events`: the live stream and the topics API. They share a tailer and a limit.
 */
import type { FastifyPluginAsync } from 'fastify';
import type { ApiDependencies } from '../dependencies.js';
import { createSerializer } from '../serialize.js';
import { createFollowers, defaultFollowerBounds, type FollowerBounds } from '../stream/followers.js';
import { defaultStreamBounds, type StreamBounds, streamRoutes } from '../stream/routes.js';
import { topicRoutes } from './routes.js';

/** Bounds of streams and of reads that wait. */
export interface SubscriberBounds extends FollowerBounds, StreamBounds {}

/** The bounds of a server. */
export const defaultSubscriberBounds: SubscriberBounds = { ...defaultFollowerBounds, ...defaultStreamBounds };

/** Serves the live stream and the topic over HTTP. Both share one bound on followers. */
export const subscriberRoutes =
  (
    dependencies: Pick<ApiDependencies, 'log' | 'streams'>,
    bounds: SubscriberBounds = defaultSubscriberBounds,
  ): FastifyPluginAsync =>
  async (app) => {
    const followers = createFollowers(dependencies.log, bounds, dependencies.streams?.opened);
    // The number of streams and connections bounds what waits.
    const serialize = createSerializer(Number.POSITIVE_INFINITY);
    // Must run before the server waits for its connections: streams never end by themselves.
    app.addHook('preClose', async () => followers.close());
    await app.register(streamRoutes(dependencies, followers, serialize, bounds));
    await app.register(topicRoutes(dependencies, followers, serialize));
  };
