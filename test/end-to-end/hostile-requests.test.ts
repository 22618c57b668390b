/**
 * Every route with what no client should send. Each answer is right, or an error of the catalogue: never 500, never
 * none. The routes are those of the API's description, so that a new one is covered too.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { errorCatalogue } from '../../schemas/errors.js';
import { type Answer, type Client, type Json, ok, trackDefaults } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import { SharedServer } from '../support/shared-server.js';

interface Operation {
  readonly method: string;
  readonly path: string;
  /** Names of query parameters. */
  readonly parameters: readonly string[];
  /** Schema of the JSON body; undefined without one. */
  readonly body: Json;
  readonly schemes: string;
}

interface Attack {
  readonly operation: Operation;
  /** Replaces each parameter of the path. */
  readonly id?: string;
  readonly query?: string;
  readonly body?: string | Uint8Array;
  readonly type?: string;
}

/** Routes that are left out, and why. */
const excluded: Readonly<Record<string, string>> = {
  '/v1/events/stream': 'its answer does not end',
  '/v1/events/{id}/verification': 'it waits seconds for the event',
  '/v1/backup-snapshots': 'it freezes the data of the shared server',
  '/v1/sessions': 'it signs this test out',
  '/v1/account/delete': 'it would delete the account of this test',
  '/v1/demo': 'it would start a fleet on the shared server',
};

let server: SharedServer;
let operations: readonly Operation[];
let signedIn: Readonly<Record<string, string>>;
let administrator: Client;
/** Of another project. */
let witness: SharedServer;
let inside = false;

beforeAll(async () => {
  [server, witness] = await Promise.all([SharedServer.newProject(), SharedServer.newProject()]);
  administrator = await server.administrator();
  const { body } = await server.withKey(undefined).get('/openapi.json');
  operations = operationsOf(body);
  const { token } = ok(await administrator.post('/v1/signin/links', {}));
  const { headers } = await server.withKey(undefined).post('/v1/signin/link', { token });
  signedIn = { cookie: headers.get('set-cookie')!.split(';', 1)[0]!, 'sec-fetch-site': 'same-origin' };
  await witness.as('test_secret').putGeofence('gate', circle(0, 0, 100));
});

afterEach(async () => {
  inside = !inside;
  const report = { deviceId: 'witness', ...standing(inside ? 0 : 900, 0) };
  const { events } = await witness.as('test_publishable').track(report);
  expect(events.map(({ type }: Json) => type)).toEqual([`user.${inside ? 'entered' : 'exited'}_geofence`]);
});

function operationsOf({ paths }: Json): Operation[] {
  return Object.entries<Json>(paths)
    .filter(([path]) => !(path in excluded))
    .flatMap(([path, item]) =>
      ['get', 'put', 'post', 'delete', 'patch']
        .filter((method) => item[method])
        .map((method) => ({
          method: method.toUpperCase(),
          path,
          parameters: (item[method].parameters ?? [])
            .filter(({ in: place }: Json) => place === 'query')
            .map(({ name }: Json) => name),
          body: item[method].requestBody?.content?.['application/json']?.schema,
          schemes: `${(item[method].security ?? []).flatMap((scheme: Json) => Object.keys(scheme))}`,
        })),
    );
}

/** Only the admin API key opens these. */
const isForAdministrators = ({ path, schemes }: Operation): boolean =>
  path.startsWith('/v1/projects') || schemes === 'key';

const noId = '0'.repeat(24);
const urlOf = ({ operation, id = noId, query = '' }: Attack): string =>
  `${operation.path.replace(/\{\w+\}/g, id)}${query}`;

async function send(attack: Attack): Promise<Answer> {
  const { operation, body, type = 'application/json' } = attack;
  const isSession = operation.schemes === 'session';
  const client = isForAdministrators(operation) ? administrator : server.as('test_secret');
  const headers = { ...(isSession && signedIn), ...(body !== undefined && { 'content-type': type }) };
  const sender = isSession ? server.withKey(undefined) : client;
  return sender.send(operation.method, urlOf(attack), { body, headers });
}

const maxConcurrent = 8;
const isCatalogued = ({ status, body }: Answer): boolean =>
  errorCatalogue[body?.meta?.type as keyof typeof errorCatalogue]?.status === status;

/** Returns the attacks that were answered wrongly, with the beginning of their answers. */
async function wrongAnswers(attacks: readonly Attack[]): Promise<string[]> {
  const wrong: string[] = [];
  const waiting = attacks.values();
  const next = async (): Promise<void> => {
    for (const attack of waiting) {
      const answer = await send(attack);
      const isRight = answer.status < 400 || (answer.status !== 500 && isCatalogued(answer));
      if (isRight) continue;
      const sent = `${attack.operation.method} ${urlOf(attack)} ${attack.type ?? ''} ${attack.body ?? ''}`;
      wrong.push(`${sent.slice(0, 200)}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`);
    }
  };
  await Promise.all(Array.from({ length: maxConcurrent }, next));
  return wrong;
}

/** JSON of values that readers of numbers, texts and lists may fail on. */
const values = [
  ...['null', 'true', '-0', '1e400', '-1', '9223372036854775808', '"NaN"', '"-Infinity"', '"9999999-01-01"'],
  ...['"\\ud800"', '"a\\u0000b"', '" "', '[]', '[[null]]', '{"__proto__":{"a":1},"constructor":1}'],
  `${'['.repeat(1_000)}${']'.repeat(1_000)}`,
];
const long = JSON.stringify('x'.repeat(900_000));
const many = `[${Array(100_000).fill('{}').join(',')}]`;

/** Each field, parameter and route gets this many of the values, and all of them in the long run. */
const share = process.env.TEST_LONG === 'true' ? Number.POSITIVE_INFINITY : 3;

/** Returns a function that returns a share of the values, and the following ones the next time. */
function inTurn<T>(all: readonly T[]): () => T[] {
  let turn = 0;
  return () => Array.from({ length: Math.min(share, all.length) }, () => all[turn++ % all.length] as T);
}

/** A body with this JSON in one field. Its other fields are the first that their schemas allow. */
function bodyWith(properties: Readonly<Record<string, Json>>, field: string, value: string): string {
  const others = Object.entries(properties).filter(([name]) => name !== field);
  const fields = others.map(([name, schema]) => `${JSON.stringify(name)}:${JSON.stringify(sample(schema))}`);
  return `{${[...fields, `${JSON.stringify(field)}:${value}`].join(',')}}`;
}

function sample({ type, enum: choices, anyOf, items, properties, minimum, format }: Json): unknown {
  if (choices) return choices[0];
  if (anyOf) return sample(anyOf[0]);
  if (type === 'object')
    return Object.fromEntries(Object.entries<Json>(properties ?? {}).map(([name, schema]) => [name, sample(schema)]));
  if (type === 'array') return items ? [sample(items)] : [];
  if (type === 'number' || type === 'integer') return minimum ?? 1;
  if (type === 'boolean') return true;
  return format === 'date-time' ? '2026-01-01T00:00:00Z' : 'text';
}

describe('every route answers with a right answer or an error of the catalogue', () => {
  it('to bodies that are none', async () => {
    const json = 'application/json';
    const form = 'application/x-www-form-urlencoded';
    const bodies = inTurn<Pick<Attack, 'body' | 'type'>>([
      ...['', '{"a":', '[]', '"x"', 'null', '\u0000', '['.repeat(50_000)].map((body) => ({ body, type: json })),
      { body: Buffer.from('7b22ff223a317d', 'hex'), type: json },
      ...[form, 'multipart/form-data; boundary=x', 'text/plain', 'a/b;;='].map((type) => ({ body: '{"a":%', type })),
    ]);
    const attacks = operations
      .filter(({ method }) => method !== 'GET')
      .flatMap((operation) => bodies().map((body): Attack => ({ operation, ...body })));
    expect(attacks.length).toBeGreaterThan(150);
    expect(await wrongAnswers(attacks)).toEqual([]);
  });

  it('to hostile values in each field', async () => {
    const valuesInTurn = inTurn(values);
    const largeInTurn = inTurn([long, many]);
    const attacks = operations.flatMap((operation): Attack[] => {
      const properties: Readonly<Record<string, Json>> = operation.body?.properties ?? {};
      return Object.keys(properties).flatMap((field, index) =>
        [...valuesInTurn(), ...(index === 0 ? largeInTurn() : [])].map((value) => ({
          operation,
          body: bodyWith(properties, field, value),
        })),
      );
    });
    expect(attacks.length).toBeGreaterThan(400);
    expect(await wrongAnswers(attacks)).toEqual([]);
  });

  it('to hostile paths', async () => {
    const short = '.. %2e%2e a%2fb %00 % %ED%A0%80 %FF __proto__ %20 a;b a%3fb * %0a'.split(' ');
    const ids = inTurn([...short, 'x'.repeat(2_000)]);
    const attacks = operations
      .filter(({ path }) => path.includes('{'))
      .flatMap((operation) => ids().map((id): Attack => ({ operation, id })));
    expect(attacks.length).toBeGreaterThan(100);
    expect(await wrongAnswers(attacks)).toEqual([]);
  });

  it('to hostile queries', async () => {
    const given = '% %00 %ED%A0%80 1e400 -0 NaN 999999999999999999999 %7B%7D 2024-02-30 181,181 ,'.split(' ');
    const repeated = ['=1&NAME=2', '[]=1', '[a][b]=1', '[__proto__]=1', '=1&__proto__=1', '=1&&='];
    const rests = inTurn([...given.map((value) => `=${value}`), ...repeated]);
    const attacks = operations.flatMap((operation) =>
      operation.parameters.flatMap((name) =>
        rests().map((rest): Attack => ({ operation, query: `?${name}${rest.replace('NAME', name)}` })),
      ),
    );
    expect(attacks.length).toBeGreaterThan(400);
    expect(await wrongAnswers(attacks)).toEqual([]);
  });
});

describe('every route that requires a key', () => {
  const statuses = (client: Client) =>
    Promise.all(
      operations
        .filter(({ schemes }) => schemes.includes('key'))
        .map(async (operation) => {
          const body = operation.method === 'GET' || operation.method === 'DELETE' ? undefined : {};
          const { status } = await client.send(operation.method, urlOf({ operation }), { body });
          return { route: `${operation.method} ${operation.path}`, status };
        }),
    );
  const routesWith = async (client: Client, isMeant: (status: number) => boolean) =>
    (await statuses(client)).filter(({ status }) => isMeant(status)).map(({ route }) => route);

  it('refuses requests without one, and with a wrong one', async () => {
    for (const key of [undefined, `prj_test_sk_${'0'.repeat(40)}`, 'nonsense'])
      expect(await routesWith(server.withKey(key), (status) => status !== 401)).toEqual([]);
  });

  it('refuses a publishable key, except those that devices and pages call', async () => {
    const open = /^(GET|POST) \/(maps|v1\/(track|config|context|search|geocode|sync\/region|route|events|logs))/;
    const opened = await routesWith(server.as('live_publishable'), (status) => status !== 403);
    expect(opened.filter((route) => !open.test(route))).toEqual([]);
    for (const route of ['GET /v1/events', 'GET /v1/users', 'GET /v1/route/isochrone', 'POST /v1/locations'])
      expect(opened).not.toContain(route);
  });

  it('of projects refuses every key of a project, and of a project the admin API key', async () => {
    const opened = await routesWith(server.as('live_secret'), (status) => status !== 403);
    expect(opened.filter((route) => route.includes('/v1/projects') || route.includes('/v1/signin'))).toEqual([]);
    const forAdministrators = await routesWith(administrator, (status) => status !== 403);
    const open = / \/v1\/(projects|signin\/links|topics|backup-snapshots)/;
    expect(forAdministrators.filter((route) => !open.test(route))).toEqual([]);
  });

  it('shows nothing of another project or environment', async () => {
    const { _id, tag, externalId } = await server.as('test_secret').putGeofence('private', circle(0, 0, 100));
    const secret = server.as('test_secret');
    ok(await secret.post('/v1/track', { deviceId: 'private', ...trackDefaults, ...standing(0, 0) }));
    for (const stranger of [server.as('live_secret'), witness.as('test_secret'), witness.as('live_secret')]) {
      for (const path of [`/v1/geofences/${_id}`, `/v1/geofences/${tag}/${externalId}`])
        for (const method of ['GET', 'DELETE', 'PATCH']) {
          const { status } = await stranger.send(method, path, {
            body: method === 'PATCH' ? { radius: 50 } : undefined,
          });
          expect([method, path, status]).toEqual([method, path, 404]);
        }
      expect(JSON.stringify((await stranger.get('/v1/geofences')).body)).not.toContain('private');
      expect(JSON.stringify((await stranger.get('/v1/users')).body)).not.toContain('private');
    }
    expect(ok(await secret.get(`/v1/geofences/${_id}`)).geofence.geometryRadius).toBe(100);
  });
});
