/**
 * Generates the API's description from the schemas of the routes: /openapi.json, and /docs for people. Both require no
 * key.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance, FastifyPluginAsync, FastifyReply, FastifyRequest, FastifySchema } from 'fastify';
import Type, { type TObject, type TSchema } from 'typebox';
import { ErrorBody } from '../schemas/json/common.js';
import type { Authority } from './access/authority.js';
import { compressFiles } from './answers/compressed-files.js';
import { protectPages } from './answers/headers.js';
import { acceptsCoding, entityTagOf, isKnown } from './answers/representations.js';
import { derivedFailures, failureAnswers } from './declared-failures.js';
import { requiredText } from './fields/table.js';
import { honoursIdempotencyKey, idempotencyHeader } from './requests/idempotency.js';

/** The `info` of the API description. */
export interface OpenApiOptions {
  readonly title: string;
  readonly version: string;
  readonly description?: string;
}

const securityScheme = {
  type: 'apiKey',
  in: 'header',
  name: 'Authorization',
  description:
    'The raw key, for example prj_test_sk_…. A publishable key may make the calls of SDKs, a secret key all calls.',
} as const;

const sessionScheme = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-fenceline-session',
  description:
    "A browser's session, which a sign-in starts. Without TLS the cookie is `fenceline-session`. An owner's session " +
    "may make all calls of a secret key, a viewer's those that read. The headers `X-Fenceline-Project` and " +
    '`X-Fenceline-Environment`, or the query parameters `project` and `environment`, choose the project and test or ' +
    'live. Calls that may change something require `Sec-Fetch-Site: same-origin` or an `Origin` of this server.',
} as const;

const withKey: Record<string, string[]> = { key: [] };
const withSession: Record<string, string[]> = { session: [] };

/** Returns the schemes of which a call requires one. */
function securityOf(authority: Authority | undefined): Record<string, string[]>[] {
  switch (authority) {
    case 'none':
    case 'sign-in':
      return [];
    case 'session':
    case 'member':
    case 'owner':
      return [withSession];
    case 'admin':
      return [withKey];
    default:
      return [withKey, withSession];
  }
}

/** Returns an operation id: PUT /v1/geofences/:tag/:externalId becomes putGeofencesByTagByExternalId. */
function operationIdOf(method: string, url: string): string {
  const parts = url.split('/').filter((part) => part !== '' && part !== 'v1');
  const words = parts.map((part) => (part.startsWith(':') ? `by-${part.slice(1)}` : part)).join('-');
  return `${method.toLowerCase()}-${words}`.replace(/[^A-Za-z0-9]+(\w)?/g, (_, letter: string = '') =>
    letter.toUpperCase(),
  );
}

/** The description of the header that makes a POST safe to repeat. */
const idempotencyParameter = {
  [idempotencyHeader]: Type.Optional(
    Type.String({
      maxLength: 255,
      description: 'Chosen by the caller. For a day, a repetition with the same key gets the first answer',
    }),
  ),
};

/** Returns the schema of a route's headers with Idempotency-Key where the route honours it. */
function headersOf(method: string | readonly string[], config: object | undefined, schema: FastifySchema | undefined) {
  const declared = schema?.headers as { readonly properties?: object } | undefined;
  if (!honoursIdempotencyKey(method, config)) return declared && { headers: declared };
  return { headers: { type: 'object', ...declared, properties: { ...declared?.properties, ...idempotencyParameter } } };
}

/** Returns the schema of a route's query, in which required text is not blank. */
function queryOf(schema: FastifySchema | undefined) {
  const query = schema?.querystring as TObject | undefined;
  if (query === undefined) return {};
  const texts = (query.required ?? []).map((name) => [name, requiredText(query.properties[name] as TSchema)]);
  return { querystring: { ...query, properties: { ...query.properties, ...Object.fromEntries(texts) } } };
}

/** Returns the media types of a route's body, where the route reads fields and does not declare others. */
function consumedBy(method: string | readonly string[], schema: FastifySchema | undefined) {
  if (schema?.body === undefined || 'content' in (schema.body as object)) return {};
  const patch = [method].flat().includes('PATCH') ? ['application/merge-patch+json'] : [];
  return { consumes: ['application/json', ...patch, 'application/x-www-form-urlencoded'] };
}

/** The groups of calls, in the order in which a newcomer needs them. */
const tags = {
  track: 'Locations of devices, one by one, late or in bulk',
  search: 'Geofences, beacons and places near a point, and addresses',
  sdk: 'Calls that only SDKs make',
  routes: 'Distances, matrices and isochrones from road data',
  events: 'What devices did, as lists, a live stream and topics',
  users: 'Users with their last location, and what they did',
  erasures: 'Erasure of users and events from all stores',
  analytics: 'Visits, dwell times, entries and flows',
  geofences: 'Regions that devices enter and leave',
  beacons: 'Bluetooth beacons that devices range',
  places: 'The catalogue of places that geofences may follow',
  imports: 'Files of geofences and beacons, with a report for each bad row',
  sync: 'Nightly imports from URLs or object storage',
  explain: 'Why a location caused an event, or none',
  replays: 'Recorded locations through the geofences of today, or proposed ones',
  maps: 'Static maps, interactive maps, styles and markers',
  webhooks: 'Endpoints that receive events, and every attempt',
  settings: 'Settings of an environment that decide about events',
  projects: 'Projects, their keys and what they may use',
  demo: 'A simulated fleet in the test environment',
  accounts: 'Sign-up, sign-in and sessions of people',
  members: 'Members of a project, and invitations',
  operations: 'Health, metrics and backups of a server',
};

/** The description as it is sent: a megabyte, which needs no key. */
interface Document {
  readonly plain: Buffer;
  readonly gzipped: Buffer;
  /** Strong. The answer has it as a weak one, because both codings have one tag. */
  readonly etag: string;
}

const compress = promisify<Buffer, Buffer>(gzip);

/** Writes the description once. A request that wrote it would keep the thread from other work for 20 ms. */
async function writeDocument(app: FastifyInstance): Promise<Document> {
  const plain = Buffer.from(JSON.stringify(app.swagger()));
  return { plain, gzipped: await compress(plain), etag: entityTagOf(plain) };
}

async function sendDocument(request: FastifyRequest, reply: FastifyReply, document: Document): Promise<FastifyReply> {
  const { plain, gzipped, etag } = document;
  reply.headers({ 'cache-control': 'no-cache', etag: `W/${etag}`, vary: 'Accept-Encoding' });
  if (isKnown(request, etag)) return reply.code(304).send();
  reply.type('application/json; charset=utf-8');
  if (!acceptsCoding(request, 'gzip')) return reply.send(plain);
  return reply.header('content-encoding', 'gzip').send(gzipped);
}

const documentation: FastifyPluginAsync<{ title: string }> = async (app, { title }) => {
  app.defaultAuthority = 'none';
  protectPages(app);
  let document: Promise<Document> | undefined;
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    document ??= writeDocument(app);
    return sendDocument(request, reply, await document);
  };
  app.get('/openapi.json', handler);
  // Swagger UI has routes of its own for the document. They write JSON for every request, and YAML in two seconds.
  app.addHook('onRoute', (route) => {
    if (route.url === '/docs/json') route.handler = handler;
    // Readers of YAML read JSON, which is a part of it.
    if (route.url === '/docs/yaml') route.handler = (_, reply) => reply.redirect('../openapi.json');
  });
  compressFiles(app, '/docs/static/*');
  const css = [{ filename: 'page.css', content: '.swagger-ui .topbar { display: none }' }];
  await app.register(swaggerUi, { routePrefix: '/docs', theme: { title, css } });
};

/**
 * Rewrites tuples for JSON Schema 2020-12, and so OpenAPI 3.1. TypeBox lists their items under `items`, as earlier
 * drafts did. Tools that do not know tuples learn their length and, if all items have one, their type.
 */
function withModernTuples(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(withModernTuples);
  if (typeof node !== 'object' || node === null) return node;
  const entries = Object.entries(node).map(([name, value]): [string, unknown] => [name, withModernTuples(value)]);
  const { items, additionalItems: _, ...rest } = Object.fromEntries(entries);
  if (!Array.isArray(items)) return Object.fromEntries(entries);
  const types = new Set(items.map(({ type }: { readonly type?: unknown }) => type));
  return {
    ...rest,
    maxItems: items.length,
    prefixItems: items,
    items: types.size === 1 ? { type: [...types][0] } : {},
  };
}

/** Adds /openapi.json and /docs. They describe the routes that are registered afterwards, as plugins. */
export function describeApi(app: FastifyInstance, { title, version, description = '' }: OpenApiOptions): void {
  void app.register(swagger, {
    // Clients that are generated from the description get types with these names.
    refResolver: { buildLocalReference: (schema, _base, _fragment, index) => String(schema.$id ?? `schema${index}`) },
    openapi: {
      openapi: '3.1.0',
      info: { title, version, description, license: { name: 'Apache License 2.0', identifier: 'Apache-2.0' } },
      // What the standard assumes without it. Generators and their checks ask for it.
      servers: [{ url: '/', description: 'This server' }],
      tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
      components: { securitySchemes: { key: securityScheme, session: sessionScheme } },
    },
    transform: ({ schema, url, route }) => {
      const authority = route.config?.authority;
      const hide = url.startsWith('/docs') || url === '/openapi.json' || schema?.hide === true;
      const security = securityOf(authority);
      const response = {
        default: { description: 'Failure', ...ErrorBody },
        ...failureAnswers(derivedFailures(route)),
        ...(schema?.response as object | undefined),
      };
      const operationId = operationIdOf([route.method].flat()[0] ?? '', url);
      return {
        url,
        schema: {
          operationId,
          ...consumedBy(route.method, schema),
          ...schema,
          ...queryOf(schema),
          ...headersOf(route.method, route.config, schema),
          hide,
          security,
          response,
        },
      };
    },
    transformObject: (document) =>
      withModernTuples('openapiObject' in document ? document.openapiObject : document.swaggerObject) as object,
  });
  void app.register(documentation, { title });
}
