/** Unknown query parameters are refused. Once they were ignored, so the misspelt `?tags=A` returned everything. */
import { beforeAll, describe, expect, it } from 'vitest';
import { sdkParameters } from '../../http/requests/sdk-parameters.js';
import { type Json, ok } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';

let server: SharedServer;
let operations: readonly Operation[];
/** Headers of a browser that is signed in as owner of the project. */
let signedIn: Readonly<Record<string, string>>;

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly declared: readonly string[];
  /** Names of the security schemes of which a call requires one. */
  readonly schemes: readonly string[];
}

const methods = ['get', 'put', 'post', 'delete', 'patch'];

beforeAll(async () => {
  server = await SharedServer.newProject();
  const { body } = await server.withKey(undefined).get('/openapi.json');
  operations = Object.entries<Json>(body.paths).flatMap(([path, item]) =>
    methods
      .filter((method) => item[method])
      .map((method) => ({
        method: method.toUpperCase(),
        path,
        declared: (item[method].parameters ?? [])
          .filter((parameter: Json) => parameter.in === 'query')
          .map(({ name }: Json) => name),
        schemes: (item[method].security ?? []).flatMap((scheme: Json) => Object.keys(scheme)),
      })),
  );
  signedIn = await signIn();
});

async function signIn(): Promise<Record<string, string>> {
  const { token } = ok(await (await server.administrator()).post('/v1/signin/links', {}));
  const { headers } = await server.withKey(undefined).post('/v1/signin/link', { token });
  return { cookie: headers.get('set-cookie')!.split(';', 1)[0]!, 'sec-fetch-site': 'same-origin' };
}

/** Only the admin API key opens these. */
const isForAdministrators = ({ path, schemes }: Operation): boolean =>
  path.startsWith('/v1/projects') || `${schemes}` === 'key';

/** Calls a route with its path filled in. The resource need not exist, because parameters are validated first. */
async function send(operation: Operation, query: string) {
  const { method, path, schemes } = operation;
  const url = `${path.replace(/\{\w+\}/g, '0'.repeat(24))}?${query}`;
  const body = method === 'GET' || method === 'DELETE' ? undefined : {};
  if (`${schemes}` === 'session') return server.withKey(undefined).send(method, url, { body, headers: signedIn });
  const client = isForAdministrators(operation) ? await server.administrator() : server.as('test_secret');
  return client.send(method, url, { body });
}

describe('every route', () => {
  it('refuses an unknown parameter and names it', async () => {
    expect(operations.length).toBeGreaterThan(60);
    for (const operation of operations) {
      const { status, body } = await send(operation, 'unheardOf=1');
      expect([operation, status, body.meta?.param]).toEqual([operation, 400, 'unheardOf']);
      expect(body.meta.type).toBe('invalid_parameter');
    }
  });

  it('refuses a misspelt parameter and suggests the right one', async () => {
    for (const operation of operations) {
      for (const name of operation.declared.filter((name) => name.length > 3)) {
        const misspelt = `${name.slice(0, -2)}${name.at(-1)}${name.at(-2)}`;
        const { status, body } = await send(operation, `${misspelt}=1`);
        expect([operation, status, body.meta?.param]).toEqual([operation, 400, misspelt]);
        expect(body.meta.message).toMatch(`did you mean ${name}?`);
      }
    }
  });

  it.each(['/openapi.json', '/docs/', '/docs/static/swagger-ui.css', '/health/live', '/health/ready', '/metrics'])(
    'refuses parameters where it declares none: %s',
    async (path) => {
      expect((await server.withKey(undefined).get(path)).status).toBe(200);
      const answer = await server.withKey(undefined).get(`${path}?unheardOf=1`);
      expect(answer.status).toBe(400);
      expect(answer.body.meta.message).toBe('unheardOf: is not a parameter of this call; this call has none');
    },
  );
});

describe('a list', () => {
  it('does not return everything for a misspelt filter', async () => {
    const { status, body } = await server.as('test_secret').get('/v1/geofences?tags=A');
    expect(status).toBe(400);
    expect(body.meta).toMatchObject({
      param: 'tags',
      message: 'tags: is not a parameter of this call; did you mean tag?',
    });
  });

  it('refuses a repeated parameter', async () => {
    const { status, body } = await server.as('test_secret').get('/v1/geofences?limit=1&limit=2');
    expect(status).toBe(400);
    expect(body.meta).toMatchObject({ param: 'limit', message: 'limit: must be given once, and have one value' });
  });
});

/** Without road data, the answer to a matrix is `not_available`. */
function requiredOf(path: string): Record<string, string> {
  if (path === '/v1/route/matrix') return { origins: '0,0', destinations: '0,1' };
  if (path === '/v1/search/autocomplete') return { near: '0,0', query: 'Paris' };
  return path.startsWith('/v1/search') ? { near: '0,0' } : {};
}

describe('parameters that SDKs append', () => {
  it.each(Object.entries(sdkParameters))('to %s is ignored', async (path, parameters) => {
    const query = new URLSearchParams(requiredOf(path));
    const without = await server.as('test_publishable').get(`${path}?${query}`);
    for (const name of Object.keys(parameters)) query.set(name, '(null)');
    const { status, body } = await server.as('test_publishable').get(`${path}?${query}`);
    expect([status, body.meta.type]).toEqual([without.status, without.body.meta.type]);
    expect(body.meta.type).not.toBe('invalid_parameter');
  });

  it('are accepted as the web, iOS and Android SDKs write them', async () => {
    const queries = [
      '/v1/config?deviceId=d&installId=i&sessionId=1&locationAuthorization=GRANTED_FOREGROUND',
      '/v1/config?installId=i&sessionId=1&id=(null)&locationAuthorization=DENIED&locationAccuracyAuthorization=FULL' +
        '&notificationAuthorization=true&usage=initialize&verified=false&clientSdkConfiguration=%7B%7D',
      '/v1/context?coordinates=1,2&accuracy=20',
      '/v1/search/geofences?near=1.000000,2.000000&radius=1000&limit=10&tags=a,b&metadata[open]=true' +
        '&includeGeometry=true',
      '/v1/search/geofences?near=1,2&metadata=%5Bobject%20Object%5D',
      '/v1/search/beacons?near=1.000000,2.000000&radius=1000&limit=10&installId=i',
      '/v1/search/autocomplete?query=Par&countryCode=FR&expandUnits=true&mailable=true&postalCode=75001&sessionToken=t',
      '/v1/search/autocomplete?query=Par&near=48.860000,2.350000&layers=locality&limit=10&country=FR&mailable=true',
      '/v1/search/places?near=48.860000,2.350000&radius=1000&limit=10&chains=a&categories=b&groups=c&country=FR',
      // Android writes the quotes as they are, and iOS percent-encodes them.
      '/v1/search/places?near=48.860000,2.350000&radius=1000&limit=10&chains=a&chainMetadata[open]="true"',
      '/v1/search/places?near=1.000000,2.000000&radius=1000&limit=10&chains=a&chainMetadata%5Bopen%5D=%22true%22',
    ];
    for (const query of queries) {
      const { status } = await server.as('test_publishable').get(query);
      expect([query, status]).toEqual([query, 200]);
    }
  });
});

// The parser of forms takes 2,000 fields, and left the others out without notice.
describe('fields beyond the two-thousandth are refused', () => {
  it('in a query string', async () => {
    const { status, body } = await server.as('test_secret').get(`/v1/geofences?${'&'.repeat(2_000)}tag=b`);
    expect(status).toBe(400);
    expect(body.meta).toMatchObject({ param: 'tag', message: 'tag: must be among the first 2000 fields' });
  });

  it('in a form', async () => {
    const many = Array.from({ length: 2_000 }, (_, index) => `metadata[k${index}]=1`).join('&');
    const { status, body } = await server.as('test_secret').send('POST', '/v1/track', {
      body: `${many}&deviceId=d`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
    expect(status).toBe(400);
    expect(body.meta).toMatchObject({ param: 'deviceId', message: 'deviceId: must be among the first 2000 fields' });
  });
});
