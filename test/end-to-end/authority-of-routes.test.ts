/**
 * Who may call each route of the description: every key, every session, and requests with a session from elsewhere. The
 * table names the authority of each route on its own, so that a route whose authority changes fails here.
 *
 * A caller that may call a route gets 400, because every request has an unknown parameter. So no request acts.
 */
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';

type Headers = Readonly<Record<string, string>>;

const openRoutes = ['GET /health/live', 'GET /health/ready', 'GET /metrics'];
const signInRoutes = [
  'POST /v1/signup',
  'POST /v1/signup/confirm',
  'POST /v1/signin',
  'POST /v1/signin/link',
  'POST /v1/password/reset',
  'POST /v1/password/reset/confirm',
  'POST /v1/invitations/preview',
  'POST /v1/invitations/accept',
];
const publishableRoutes = [
  'POST /v1/track',
  'POST /v1/track/replay',
  'GET /v1/config',
  'GET /v1/context',
  'GET /v1/search/geofences',
  'GET /v1/search/beacons',
  'POST /v1/sync/region',
  'GET /v1/route/distance',
  'GET /v1/route/matrix',
  'POST /v1/events',
  'PUT /v1/events/{id}/verification',
  'POST /v1/logs',
  'GET /v1/geocode/forward',
  'GET /v1/geocode/reverse',
  'GET /v1/geocode/ip',
  'GET /v1/search/autocomplete',
  'POST /v1/search/autocomplete/click',
  'GET /v1/search/places',
  'GET /maps/styles/{style}',
  'GET /maps/tiles/{tileset}/{z}/{x}/{y}',
  'GET /maps/glyphs/{fontstack}/{range}',
  'GET /maps/sprites/{file}',
  'GET /maps/static',
];
const secretOrAdminRoutes = ['GET /v1/topics', 'GET /v1/topics/events', 'GET /v1/topics/events/schema'];
const adminRoutes = [
  'POST /v1/backup-snapshots',
  'DELETE /v1/backup-snapshots/{id}',
  'POST /v1/projects',
  'GET /v1/projects',
  'PUT /v1/projects/{id}/plan',
  'POST /v1/signin/links',
];
const adminOrOwnerRoutes = [
  'GET /v1/projects/{id}',
  'PATCH /v1/projects/{id}',
  'DELETE /v1/projects/{id}',
  'POST /v1/projects/{id}/keys/rotate',
];
const sessionRoutes = [
  'GET /v1/session',
  'GET /v1/sessions',
  'DELETE /v1/sessions',
  'DELETE /v1/sessions/{id}',
  'POST /v1/signout',
  'POST /v1/account/delete',
  'PUT /v1/password',
  'POST /v1/account/projects',
];
const memberRoutes = ['GET /v1/members'];
const ownerRoutes = [
  'PUT /v1/members/{id}',
  'DELETE /v1/members/{id}',
  'POST /v1/invitations',
  'GET /v1/invitations',
  'DELETE /v1/invitations/{id}',
];

type Authority =
  | 'none'
  | 'sign-in'
  | 'publishable'
  | 'secret'
  | 'secret or admin'
  | 'admin'
  | 'admin or owner'
  | 'session'
  | 'member'
  | 'owner';

const named: ReadonlyMap<string, Authority> = new Map(
  (
    [
      ['none', openRoutes],
      ['sign-in', signInRoutes],
      ['publishable', publishableRoutes],
      ['secret or admin', secretOrAdminRoutes],
      ['admin', adminRoutes],
      ['admin or owner', adminOrOwnerRoutes],
      ['session', sessionRoutes],
      ['member', memberRoutes],
      ['owner', ownerRoutes],
    ] as const
  ).flatMap(([authority, routes]) => routes.map((route) => [route, authority] as const)),
);
/** A new route that the table does not name has to require a secret key. */
const authorityOf = (operation: string): Authority => named.get(operation) ?? 'secret';
const reads = (operation: string): boolean => operation.startsWith('GET ');

const anybody: readonly Authority[] = ['none', 'sign-in'];
const withPublishableKey: readonly Authority[] = [...anybody, 'publishable'];
const withSecretKey: readonly Authority[] = [...withPublishableKey, 'secret', 'secret or admin'];
const withAdminKey: readonly Authority[] = [...anybody, 'secret or admin', 'admin or owner', 'admin'];
const withAnySession: readonly Authority[] = [...anybody, 'session'];
const asMember: readonly Authority[] = [...withSecretKey, 'session', 'member'];
const asOwner: readonly Authority[] = [...asMember, 'owner', 'admin or owner'];

/** 400: the caller may call the route. */
type Status = 400 | 401 | 403;

const statusFor = (authorities: readonly Authority[], refusal: 401 | 403) => (operation: string) =>
  authorities.includes(authorityOf(operation)) ? 400 : refusal;

/** No session opens the routes of the admin API key, so such a request counts as one without a key. */
const statusForSession =
  (statusOf: (operation: string) => Status) =>
  (operation: string): Status =>
    authorityOf(operation) === 'admin' ? 401 : statusOf(operation);

const statusForOwner = statusForSession(statusFor(asOwner, 403));
const statusForViewer = statusForSession((operation) => {
  if (withAnySession.includes(authorityOf(operation))) return 400;
  return reads(operation) && asMember.includes(authorityOf(operation)) ? 400 : 403;
});
const statusForStranger = statusForSession(statusFor(withAnySession, 403));
const statusForOtherSite = statusForSession(statusFor(['none'], 403));
const statusWithoutOrigin = statusForSession((operation) => {
  if (anybody.includes(authorityOf(operation))) return 400;
  return reads(operation) ? statusForOwner(operation) : 403;
});

const signedIn = { password: 'correct horse battery', origin: { 'sec-fetch-site': 'same-origin' } };
/** Other files use the same server, and a run may be repeated on it: addresses must be new. */
const newEmail = (): string => `${randomUUID()}@example.com`;

let server: SharedServer;
let operations: readonly string[];
let callers: Readonly<Record<string, Headers>>;

const cookieOf = (answer: { readonly headers: globalThis.Headers }): Headers => ({
  cookie: answer.headers.get('set-cookie')!.split(';', 1)[0]!,
});

const post = (path: string, body: object, headers: Headers = {}) =>
  server.withKey(undefined).send('POST', path, { body, headers: { ...signedIn.origin, ...headers } });

async function ownerByLink(project: string): Promise<Headers> {
  const { token } = ok(await (await server.administrator()).post('/v1/signin/links', { project }));
  return cookieOf(await post('/v1/signin/link', { token }));
}

/** Returns the token of the mail to the address, which is written after the answer. */
async function mailedToken(email: string): Promise<string> {
  let token: string | undefined;
  await until(async () => {
    // A mail that is still written has another ending.
    for (const name of (await readdir(server.outbox)).filter((each) => each.endsWith('.eml'))) {
      const mail = await readFile(join(server.outbox, name), 'utf8');
      if (mail.includes(`To: ${email}`)) token = /#invitation=(\S+)/.exec(mail)![1]!;
    }
    return token !== undefined;
  });
  return token!;
}

async function memberOf(owner: Headers, role: 'owner' | 'viewer'): Promise<{ id: string; headers: Headers }> {
  const email = newEmail();
  ok(await post('/v1/invitations', { email, role }, owner));
  const token = await mailedToken(email);
  const answer = await post('/v1/invitations/accept', { token, password: signedIn.password });
  return { id: ok(answer).session.account._id, headers: cookieOf(answer) };
}

beforeAll(async () => {
  server = await SharedServer.newProject();
  await mkdir(server.outbox, { recursive: true });
  const { body } = await server.withKey(undefined).get('/openapi.json');
  operations = Object.entries<Json>(body.paths).flatMap(([path, item]) =>
    ['get', 'put', 'post', 'delete', 'patch']
      .filter((method) => item[method])
      .map((method) => `${method.toUpperCase()} ${path}`),
  );
  const byLink = await ownerByLink(server.project);
  const [owner, viewer] = [await memberOf(byLink, 'owner'), await memberOf(byLink, 'viewer')];
  const [removed, ended] = [await memberOf(byLink, 'viewer'), await memberOf(byLink, 'owner')];
  ok(
    await server
      .withKey(undefined)
      .send('DELETE', `/v1/members/${removed.id}`, { headers: { ...signedIn.origin, ...byLink } }),
  );
  ok(await post('/v1/signout', {}, ended.headers));
  const other = await SharedServer.newProject();
  const stranger = await ownerByLink(other.project);
  const choice = { 'x-fenceline-project': server.project };
  const session = (headers: Headers): Headers => ({ ...signedIn.origin, ...choice, ...headers });
  callers = {
    nobody: {},
    'an unknown key': { authorization: `prj_test_sk_${'0'.repeat(40)}` },
    'a publishable key of test': { authorization: server.keys.test_publishable },
    'a publishable key of live': { authorization: server.keys.live_publishable },
    'a secret key of test': { authorization: server.keys.test_secret },
    'a secret key of live': { authorization: server.keys.live_secret },
    'the admin API key': { authorization: server.adminApiKey },
    'an owner': session(owner.headers),
    'an owner who signed in by a link': session(byLink),
    'a viewer': session(viewer.headers),
    'an owner of another project': session(stranger),
    'a viewer who was removed': session(removed.headers),
    'an owner who signed out': session(ended.headers),
    'a page of another site with the session of an owner': session({
      ...owner.headers,
      'sec-fetch-site': 'cross-site',
    }),
    'a form of another site with the session of an owner': {
      ...choice,
      ...owner.headers,
      origin: 'https://other.example',
    },
    'a request of unknown origin with the session of an owner': { ...choice, ...owner.headers },
    'a publishable key beside the session of an owner': session({
      ...owner.headers,
      authorization: server.keys.test_publishable,
    }),
  };
});

/** Calls a route with its path filled in. */
async function statusOf(operation: string, headers: Headers): Promise<number> {
  const [method, path] = operation.split(' ') as [string, string];
  const url = `${path.replace(/\{\w+\}/g, '0'.repeat(24))}?unheardOf=1`;
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  return (await server.withKey(undefined).send(method, url, { body, headers })).status;
}

const expected: Readonly<Record<string, (operation: string) => Status>> = {
  nobody: statusFor(anybody, 401),
  'an unknown key': statusFor(anybody, 401),
  'a publishable key of test': statusFor(withPublishableKey, 403),
  'a publishable key of live': statusFor(withPublishableKey, 403),
  'a secret key of test': statusFor(withSecretKey, 403),
  'a secret key of live': statusFor(withSecretKey, 403),
  'the admin API key': statusFor(withAdminKey, 403),
  'an owner': statusForOwner,
  'an owner who signed in by a link': statusForOwner,
  'a viewer': statusForViewer,
  'an owner of another project': statusForStranger,
  'a viewer who was removed': statusForStranger,
  'an owner who signed out': statusFor(anybody, 401),
  'a page of another site with the session of an owner': statusForOtherSite,
  'a form of another site with the session of an owner': statusForOtherSite,
  'a request of unknown origin with the session of an owner': statusWithoutOrigin,
  'a publishable key beside the session of an owner': statusFor(withPublishableKey, 403),
};

it('the table names only routes that exist', () => {
  expect([...named.keys()].filter((operation) => !operations.includes(operation))).toEqual([]);
  expect(operations.length).toBeGreaterThan(150);
});

it.each(Object.keys(expected))('every route answers %s as its authority requires', async (caller) => {
  const actual: [string, number][] = [];
  for (const operation of operations) actual.push([operation, await statusOf(operation, callers[caller]!)]);
  expect(actual).toEqual(operations.map((operation) => [operation, expected[caller]!(operation)]));
});
