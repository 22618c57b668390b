/**
 * A whole API for the tests of this module: the real log, read model and writer in a folder of its own, two projects,
 * and calls with their keys.
 */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyPluginAsync } from 'fastify';
import { afterAll } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { createKeyRing } from '../../http/access/keys.js';
import { createSessions } from '../../http/access/sessions.js';
import type { Retention } from '../../http/requests/idempotency.js';
import { createTestServer } from '../../http/testing/server.js';
import type { Mail } from '../../outbound/mail/mail.js';
import { followChanges } from '../../pipeline/catalog/store/changes.js';
import { createConfigurationWriter } from '../../pipeline/catalog/store/configuration-writer.js';
import { openReadModel } from '../../pipeline/catalog/store/read-model.js';
import { createSecretCipher, encryptionKeyBytes } from '../../pipeline/encryption.js';
import type { ExpiringValues } from '../../pipeline/ports.js';
import { openTestAnalytics } from '../../pipeline/stages/testing/analytics.js';
import { createTestTables } from '../../pipeline/stages/testing/tables.js';
import type { Environment } from '../../schemas/json/common.js';
import type { KeyKind, ProjectRecord } from '../../schemas/json/project.js';
import { sha256Hex } from '../../schemas/sha256.js';
import { type AnswerCheck, createAnswerCheck } from '../../testing/described-answers.js';
import { type AccountOptions, createAccountParts } from '../accounts/parts.js';
import type { MapParts, WebhookParts } from '../dependencies.js';
import { createProject } from '../projects/projects.js';
import { type ApiDependencies, apiRoutes } from '../routes.js';

/** The admin API key of test APIs. */
export const adminApiKey = 'administrator-for-tests';

/** The parsed body of an answer. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
export type Body = any;

/** A request to a test API. */
export interface Call {
  readonly key?: string;
  /** An object is sent as JSON, a text as a form. */
  readonly body?: object | string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The caller's. */
  readonly remoteAddress?: string;
}

/** A project with its keys in plain text, which the record does not have. */
export interface TestProject {
  readonly record: ProjectRecord;
  key(environment: Environment, kind: KeyKind): string;
}

/** The API on embedded stores, without a listening socket unless a test opens one. */
export type TestApi = Awaited<ReturnType<typeof startApi>>;

const unasked = async (): Promise<never> => {
  throw new Error('not part of this test');
};

/**
 * The real analytics engine with the real tables, closed after the tests of the file. One per file: a process opens one
 * folder at a time.
 */
export async function useAnalytics() {
  const analytics = await openTestAnalytics();
  afterAll(() => analytics.close());
  await createTestTables(analytics);
  return analytics;
}

/** What webhooks need, with the parts of interest on top. */
export const webhookParts = (parts: Partial<WebhookParts> = {}): WebhookParts => ({
  secretCipher: createSecretCipher(randomBytes(encryptionKeyBytes)),
  allowedNetworks: [],
  maxWebhooks: 10,
  waiting: unasked,
  attemptOnce: unasked,
  ...parts,
});

/** What is said of a map that lacks nothing. */
export const completeMap = {
  contentType: 'image/png',
  missingTiles: 0,
  cutLayers: [],
  tileProblem: null,
  missingIcons: 0,
  missingFonts: [],
} as const;

/** What maps need, with the parts of interest on top. */
export const mapParts = (parts: Partial<MapParts> = {}): MapParts => ({
  render: unasked,
  checkStyle: unasked,
  checkIcon: unasked,
  webStyle: unasked,
  webFile: unasked,
  publicUrl: '',
  costPerKeyPerSecond: 0,
  maxCacheBytes: 0,
  maxStyles: 10,
  maxMarkers: 10,
  ...parts,
});

type ApiParts = Partial<
  Pick<
    ApiDependencies,
    | 'analytics'
    | 'spatial'
    | 'states'
    | 'clock'
    | 'webhooks'
    | 'maps'
    | 'geometrySources'
    | 'arePlansEnabled'
    | 'ipGeocoder'
  >
> & {
  readonly authorityCheckMs?: number;
  /** Makes the routes of a module after this one. */
  readonly addRoutes?: (dependencies: ApiDependencies) => FastifyPluginAsync;
  /** Settings of accounts. Sign-up is on, and hashes of passwords are cheap. */
  readonly accountOptions?: Partial<Omit<AccountOptions, 'sessions' | 'values' | 'clock'>>;
};

/** After so many ms without a request a session of a test API ends. */
export const sessionIdleMs = 8 * 3_600_000;
/** After so many ms a session of a test API ends in any case. */
export const sessionAbsoluteMs = 7 * 24 * 3_600_000;

/** An API that is closed after the tests of the file, at whose top level it is awaited. */
export async function useApi(parts: Parameters<typeof startApi>[0] = {}): Promise<TestApi> {
  const api = await startApi(parts);
  afterAll(() => api.close());
  return api;
}

/** Returns how the operations of /openapi.json say they use ETag and If-Match, as `entityTagUses` of an API says it. */
function declaredUsesOf(description: Body): ReadonlySet<string> {
  const operations = Object.values<Record<string, Body>>(description.paths).flatMap((path) => Object.values(path));
  const uses = operations.flatMap(({ operationId, parameters = [], responses }) => [
    ...(responses['200']?.headers?.ETag ? [`${operationId} answers ETag`] : []),
    ...(parameters.some((parameter: Body) => parameter.in === 'header' && parameter.name === 'If-Match')
      ? [`${operationId} honours If-Match`]
      : []),
  ]);
  return new Set(uses);
}

/** Returns the statuses that /openapi.json declares, with the ids of their operations. */
function declaredStatusesOf(description: Body): ReadonlySet<string> {
  const operations = Object.values<Record<string, Body>>(description.paths).flatMap((path) => Object.values(path));
  const statuses = operations.flatMap(({ operationId, responses }) =>
    Object.keys(responses).map((status) => `${operationId} answers ${status}`),
  );
  return new Set(statuses);
}

/** One path is also that of a geofence whose externalId is `users`, which another operation describes. */
const describedAs = (operationId: string, body: Body): string =>
  operationId === 'listUsersOfGeofence' && 'geofence' in body ? 'getGeofenceOfPair' : operationId;

/** Parts that a test does not give throw when they are used. */
export async function startApi({
  retentions,
  addRoutes,
  accountOptions,
  authorityCheckMs,
  ...parts
}: ApiParts & { readonly retentions?: readonly Retention[] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-api-'));
  const clock = parts.clock ?? Date.now;
  const embedded = openEmbedded({ path: join(folder, 'data'), mapBytes: 2 ** 30 });
  const readModel = openReadModel(join(folder, 'read-model'), { clock });
  const problems: unknown[] = [];
  const following = followChanges({ log: embedded.log, readModel, onProblem: (problem) => problems.push(problem) });
  const writer = createConfigurationWriter({ log: embedded.log, readModel, clock });

  const storedValues: string[] = [];
  const values: ExpiringValues = {
    ...embedded.values,
    put(key, value, ...rest) {
      storedValues.push(value);
      return embedded.values.put(key, value, ...rest);
    },
  };
  const storedAnswers: { readonly value: string; readonly ttlMs: number }[] = [];
  const answers: ExpiringValues = {
    ...embedded.answers,
    put(key, value, ttlMs, ...rest) {
      storedAnswers.push({ value, ttlMs });
      return embedded.answers.put(key, value, ttlMs, ...rest);
    },
  };

  const sessions = createSessions({
    values,
    configuration: readModel,
    clock,
    secureCookies: 'auto',
    idleMs: sessionIdleMs,
    absoluteMs: sessionAbsoluteMs,
  });
  const mails: Mail[] = [];
  const accounts = createAccountParts({
    mailer: {
      async send(mail) {
        mails.push(mail);
        return { kind: 'sent' };
      },
    },
    onMailFailure: (failure) => problems.push(failure),
    publicUrl: () => 'https://map.example.com',
    signUp: 'on',
    confirmation: 'off',
    signInAttemptsPerAddress: 20,
    signInAttemptsPerClient: 100,
    passwordCost: { logN: 4, r: 8, p: 1 },
    ...accountOptions,
    sessions,
    values,
    clock,
  });

  const app = createTestServer({
    trustProxy: true,
    sessionAccess: { sessions, configuration: readModel },
    idempotency: {
      values,
      answers,
      secretCipher: createSecretCipher(randomBytes(encryptionKeyBytes)),
      ...(retentions && { retentions }),
    },
    keyRing: createKeyRing(readModel),
    authorityCheckMs,
    adminApiKeySha256: sha256Hex(adminApiKey),
  });
  const entityTagUses = new Set<string>();
  const statusesOfOperations = new Set<string>();
  const faultsOfAnswers: string[] = [];
  let answerCheck: AnswerCheck | undefined;
  app.addHook('onSend', async (request, reply, payload) => {
    const { operationId } = (request.routeOptions.schema ?? {}) as { operationId?: string };
    // The description does not describe itself.
    if (request.routeOptions.url === '/openapi.json') return;
    if (reply.hasHeader('etag')) entityTagUses.add(`${operationId} answers ETag`);
    if (reply.statusCode === 412) entityTagUses.add(`${operationId} honours If-Match`);
    const isDescribed = operationId !== undefined && reply.statusCode !== 500;
    if (isDescribed) statusesOfOperations.add(`${operationId} answers ${reply.statusCode}`);
    if (!isDescribed || typeof payload !== 'string' || !`${reply.getHeader('content-type')}`.includes('json')) return;
    answerCheck ??= createAnswerCheck(app.swagger());
    const body = JSON.parse(payload) as Body;
    const fault = answerCheck.ofOperation(describedAs(operationId, body), reply.statusCode, body);
    if (fault !== undefined) faultsOfAnswers.push(fault);
  });
  const dependencies: ApiDependencies = {
    analytics: { query: unasked, file: unasked },
    log: embedded.log,
    values,
    webhooks: webhookParts(),
    maps: mapParts(),
    geometrySources: {},
    accounts,
    arePlansEnabled: false,
    spatial: { context: unasked, searchGeofences: unasked, searchBeacons: unasked, explain: unasked },
    ...parts,
    configuration: readModel,
    writer,
    clock,
  };
  await app.register(apiRoutes, dependencies);
  if (addRoutes !== undefined) await app.register(addRoutes(dependencies));
  await app.ready();
  const declaredEntityTagUses = declaredUsesOf(app.swagger() as unknown as Body);
  const declaredStatuses = declaredStatusesOf(app.swagger() as unknown as Body);

  async function newProject(name: string): Promise<TestProject> {
    const { project, keys } = await createProject(writer, { name });
    return {
      record: project,
      key: (environment, kind) =>
        keys.find(({ record }) => record.environment === environment && record.kind === kind)?.key ?? '',
    };
  }
  const project = await newProject('First');
  const secret = project.key('test', 'secret');

  return {
    app,
    log: embedded.log,
    values,
    /** Every value that was put into `values`. */
    storedValues,
    /** Every lock and answer under an Idempotency-Key. */
    storedAnswers,
    mails,
    sessions,
    readModel,
    writer,
    problems,
    project,
    secret,
    newProject,
    /** What the routes have done with ETag and If-Match so far, and what /openapi.json declares. */
    entityTagUses,
    declaredEntityTagUses,
    /** With the first project's secret key of Test, unless `key` says otherwise. */
    async call(
      method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
      url: string,
      { key = secret, body, headers: given = {}, remoteAddress }: Call = {},
    ) {
      const headers = {
        ...(typeof body === 'string' && { 'content-type': 'application/x-www-form-urlencoded' }),
        ...given,
        ...(key !== '' && { authorization: key }),
      };
      const answer = await app.inject({
        method,
        url,
        headers,
        ...(body !== undefined && { payload: body }),
        ...(remoteAddress !== undefined && { remoteAddress }),
      });
      const undeclared = [
        ...[...entityTagUses].filter((use) => !declaredEntityTagUses.has(use)),
        ...[...statusesOfOperations].filter((status) => !declaredStatuses.has(status)),
      ];
      if (undeclared.length > 0) throw new Error(`/openapi.json does not say that ${undeclared.join(', ')}`);
      if (faultsOfAnswers.length > 0) throw new Error(`/openapi.json says otherwise: ${faultsOfAnswers.join(', ')}`);
      const result = { status: answer.statusCode, body: answer.json() as Body, etag: answer.headers.etag };
      // Not compared with what a test expects.
      return Object.defineProperty(result, 'headers', { value: answer.headers, enumerable: false }) as typeof result & {
        readonly headers: typeof answer.headers;
      };
    },
    async close() {
      await app.close();
      await following.close();
      await readModel.close();
      await embedded.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
