/** The API's description, made from the routes' own schemas: /openapi.json, and /docs for people. Open to everybody. */
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyPluginAsync } from 'fastify';
import { ErrorBody } from '../schemas/json/common.js';

export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

const securityScheme = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description: 'The key itself, for example prj_test_sk_… Publishable keys can do what SDKs need, secret keys everything.',
} as const;

const documentation: FastifyPluginAsync = async (app) => {
  app.defaultAuthority = 'none';
  app.get('/openapi.json', async () => app.swagger());
  await app.register(swaggerUi, { routePrefix: '/docs' });
};

/** Adds /openapi.json and /docs. Routes that are registered after it, as plugins, are described. */
export function describeApi(app: FastifyInstance, { title, version, description = '' }: OpenApiOptions): void {
  void app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title, version, description },
      components: { securitySchemes: { key: securityScheme } },
    },
    transform: ({ schema, url, route }) => {
      const authority = route.config?.authority;
      const hide = url.startsWith('/docs') || url === '/openapi.json';
      const security = authority === 'none' ? [] : [{ key: [] }];
      const response = { default: { description: 'Failure', ...ErrorBody }, ...(schema?.response as object | undefined) };
      return { url, schema: { ...schema, hide, security, response } };
    },
  });
  void app.register(documentation);
}
