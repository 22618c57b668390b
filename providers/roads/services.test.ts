/** Services over HTTP: requests to them and results of their answers, in their documented formats. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import type { Position } from '../../schemas/json/common.js';
import type { TimeLimit } from '../time-limit.js';
import { createValhallaService } from '../valhalla/service.js';
import type { RoadEngine } from './engine.js';
import { createGraphHopper } from './graphhopper.js';
import type { HttpEngineOptions } from './http-engine.js';
import { createOpenRouteService } from './openrouteservice.js';
import { createRoadProvider } from './provider.js';

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly key: string | undefined;
  readonly body: Record<string, unknown>;
}
type Reply = { readonly status?: number; readonly body: unknown };

let sent: Sent[] = [];
/** Responses, by the end of the path. */
let replies: Record<string, Reply> = {};

async function received(request: IncomingMessage): Promise<Sent> {
  const url = new URL(request.url ?? '', 'http://service');
  const body = await text(request);
  return {
    method: request.method ?? '',
    path: url.pathname,
    query: url.searchParams,
    key: request.headers.authorization,
    body: body === '' ? {} : JSON.parse(body),
  };
}

const service = createServer(async (request, response) => {
  const one = await received(request);
  sent.push(one);
  const [, reply] = Object.entries(replies).find(([end]) => one.path.endsWith(end)) ?? [];
  response.statusCode = reply?.status ?? (reply === undefined ? 404 : 200);
  response.setHeader('content-type', 'application/json');
  response.end(typeof reply?.body === 'string' ? reply.body : JSON.stringify(reply?.body ?? {}));
});
await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
afterAll(() => {
  service.closeAllConnections();
  service.close();
});
const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}/base/`;
const options: HttpEngineOptions = { url, apiKey: 'secret', boundary: undefined };

beforeEach(() => {
  sent = [];
  replies = {};
});

const limits = { maxConcurrency: 1, maxWaitingPerProject: 1, timeoutMs: 60_000 };
const limit: TimeLimit = { signal: new AbortController().signal, hasTime: () => true };
const center: Position = [11.967, 57.7];
const square: Position[] = [
  [11.9, 57.6],
  [12, 57.6],
  [12, 57.8],
  [11.9, 57.8],
  [11.9, 57.6],
];
const area = { type: 'Polygon', coordinates: [square] };
const collection = { type: 'FeatureCollection', features: [{ type: 'Feature', properties: {}, geometry: area }] };
const travel = { mode: 'car', avoid: [] } as const;
const between = { ...travel, origin: [10, 50], destination: [11, 51] } as {
  origin: Position;
  destination: Position;
} & typeof travel;
const matrix = {
  ...travel,
  origins: [[10, 50]] as Position[],
  destinations: [
    [11, 51],
    [12, 52],
  ] as Position[],
};
const areaOf = (engine: RoadEngine, toleranceM?: number, mode: 'car' | 'motorbike' = 'car') =>
  engine.area({ center, minutes: 15, mode, toleranceM }, limit);

describe('Valhalla', () => {
  const engine = createValhallaService(options);

  test('is asked for the time to the point, near roads only', async () => {
    replies = { '/isochrone': { body: collection } };
    expect(await areaOf(engine, 50)).toEqual({ ok: true, value: area });
    expect(sent).toMatchObject([
      {
        method: 'POST',
        path: '/base/isochrone',
        body: {
          locations: [{ lon: 11.967, lat: 57.7, search_cutoff: 500 }],
          costing: 'auto',
          contours: [{ time: 15 }],
          polygons: true,
          reverse: true,
          generalize: 50,
        },
      },
    ]);
    expect(sent[0]!.query.get('api_key')).toBe('secret');
  });

  test.each([
    [171, 'No suitable edges near location', 'outside_road_data'],
    [199, 'Something else', 'not_available'],
  ])('error %d, %s, is %s', async (error_code, error, code) => {
    replies = { '/isochrone': { status: 400, body: { error_code, error, status_code: 400, status: 'Bad Request' } } };
    expect(await areaOf(engine)).toMatchObject({ ok: false, error: { code } });
  });

  test('gives a route, its path decoded', async () => {
    const legs = [{ summary: { time: 60, length: 1.5 }, shape: '_izlhA~rlgdF' }];
    replies = { '/route': { body: { trip: { legs } } } };
    expect(await engine.route({ ...between, avoid: ['tolls'] }, limit)).toEqual({
      ok: true,
      value: { distanceM: 1_500, durationS: 60, path: [[-120.2, 38.5]] },
    });
    expect(sent[0]!.body.costing_options).toEqual({ auto: { use_tolls: 0 } });
  });

  test('leaves places without a road out of a matrix', async () => {
    replies = {
      '/sources_to_targets': { status: 400, body: { error: 'No suitable edges near location' } },
      '/locate': { body: [{ edges: null }, { edges: [{}] }, { edges: [{}] }] },
    };
    expect(await engine.matrix(matrix, limit)).toEqual({ ok: true, value: [[null, null]] });
  });

  test('says its version and the date of its data', async () => {
    replies = { '/status': { body: { version: '3.5.1', tileset_last_modified: 1_700_000_000 } } };
    expect(await engine.state()).toEqual({
      ok: true,
      value: { version: '3.5.1', roadDataAt: 1_700_000_000_000, boundary: undefined },
    });
  });
});

describe('openrouteservice', () => {
  const engine = createOpenRouteService(options);

  test('is asked for the time to the point, in seconds', async () => {
    replies = { '/isochrones/driving-car': { body: collection } };
    expect(await areaOf(engine, 250)).toEqual({ ok: true, value: area });
    expect(sent).toMatchObject([
      {
        path: '/base/v2/isochrones/driving-car',
        key: 'secret',
        body: { locations: [center], range: [900], range_type: 'time', location_type: 'destination', smoothing: 50 },
      },
    ]);
  });

  test('has no motorbikes', async () => {
    expect(await areaOf(engine, undefined, 'motorbike')).toMatchObject({ ok: false, error: { code: 'not_available' } });
    expect(sent).toEqual([]);
  });

  test('gives routes and matrices', async () => {
    replies = {
      '/geojson': {
        body: {
          features: [{ properties: { summary: { distance: 12, duration: 3 } }, geometry: { coordinates: square } }],
        },
      },
      '/matrix/driving-car': { body: { distances: [[5, null]], durations: [[2, null]] } },
    };
    expect(await engine.route({ ...between, avoid: ['highways'] }, limit)).toEqual({
      ok: true,
      value: { distanceM: 12, durationS: 3, path: square },
    });
    expect(sent[0]!.body.options).toEqual({ avoid_features: ['highways'] });
    expect(await engine.matrix(matrix, limit)).toEqual({
      ok: true,
      value: [[{ distanceM: 5, durationS: 2 }, null]],
    });
    expect(sent[1]!.body).toMatchObject({ sources: [0], destinations: [1, 2] });
  });

  test('without a road nearby has no isochrone and no route', async () => {
    const error = { code: 2010, message: 'Could not find routable point within a radius of 350.0 meters' };
    replies = { '/driving-car': { status: 404, body: { error } }, '/geojson': { status: 404, body: { error } } };
    expect(await areaOf(engine)).toMatchObject({ ok: false, error: { code: 'outside_road_data' } });
    expect(await engine.route(between, limit)).toEqual({ ok: true, value: null });
  });
});

describe('GraphHopper', () => {
  test('is asked for the time to the point, latitude first', async () => {
    const engine = createGraphHopper(options);
    replies = { '/isochrone': { body: collection } };
    expect(await areaOf(engine, 50, 'motorbike')).toEqual({ ok: true, value: area });
    expect(Object.fromEntries(sent[0]!.query)).toEqual({
      profile: 'motorcycle',
      point: '57.7,11.967',
      time_limit: '900',
      reverse_flow: 'true',
      buckets: '1',
      type: 'geojson',
      tolerance: '50',
      key: 'secret',
    });
  });

  test('says where its data ends', async () => {
    replies = { '/info': { body: { version: '9.1', data_date: '2025-01-02T00:00:00Z', bbox: [11, 57, 13, 59] } } };
    const state = await createGraphHopper(options).state();
    if (!state.ok) throw state.error;
    expect(state.value).toMatchObject({ version: '9.1', roadDataAt: Date.UTC(2025, 0, 2) });
    expect(state.value.boundary?.([12, 58], 500)).toBe(true);
    expect(state.value.boundary?.([11.001, 58], 500)).toBe(false);
  });

  // One failed /info was remembered for ten minutes as a boundary that is not known, and areas that the edge of the
  // data had cut were stored.
  test('regression: is unavailable until it says where its data ends', async () => {
    let nowMs = 0;
    const { isochrones } = createRoadProvider(createGraphHopper({ ...options, now: () => nowMs }), limits, Date.now);
    const codeOf = async () => {
      const answer = await isochrones({ project: 'p', center, minutes: 15, mode: 'car' });
      return answer.ok ? 'ok' : answer.error.code;
    };
    const atEdge = { version: '9.1', bbox: [11.9, 57.6, 12, 57.8] };
    const infos = () => sent.filter(({ path }) => path.endsWith('/info')).length;
    replies = { '/info': { status: 503, body: {} }, '/isochrone': { body: collection } };
    expect(await codeOf()).toBe('unavailable');
    replies = { ...replies, '/info': { body: atEdge } };
    expect(await codeOf()).toBe('unavailable');
    expect(infos()).toBe(1);
    nowMs += 5_000;
    expect(await codeOf()).toBe('outside_road_data');
    // Its last answer counts while it gives none.
    replies = { ...replies, '/info': { status: 503, body: {} } };
    nowMs += 600_000;
    expect(await codeOf()).toBe('outside_road_data');
    expect(infos()).toBe(3);
    replies = { ...replies, '/info': { body: { ...atEdge, bbox: [11, 57, 13, 59] } } };
    nowMs += 5_000;
    expect(await codeOf()).toBe('ok');
    nowMs += 599_999;
    expect(await codeOf()).toBe('ok');
    expect(infos()).toBe(4);
  });

  test.each([
    ['Cannot find point 0: 57.7,11.967', 'outside_road_data'],
    ['Point 0 is out of bounds: 57.7,11.967', 'outside_road_data'],
    ["The requested profile 'truck' does not exist. profile not found", 'not_available'],
    ['There is no such parameter', 'not_available'],
  ])('that says %s is %s', async (message, code) => {
    replies = { '/isochrone': { status: 400, body: { message } } };
    expect(await areaOf(createGraphHopper(options))).toMatchObject({ ok: false, error: { code } });
  });

  test('gives routes, and matrices only where the service has them', async () => {
    const engine = createGraphHopper(options);
    replies = { '/route': { body: { paths: [{ distance: 12, time: 3_000, points: { coordinates: square } }] } } };
    expect(await engine.route(between, limit)).toEqual({
      ok: true,
      value: { distanceM: 12, durationS: 3, path: square },
    });
    expect(await engine.matrix(matrix, limit)).toMatchObject({ ok: false, error: { code: 'not_available' } });
    replies = { '/matrix': { body: { distances: [[5, null]], times: [[2, null]] } } };
    expect(await engine.matrix(matrix, limit)).toEqual({ ok: true, value: [[{ distanceM: 5, durationS: 2 }, null]] });
  });
});

describe.each([
  ['Valhalla', createValhallaService],
  ['openrouteservice', createOpenRouteService],
  ['GraphHopper', createGraphHopper],
] as const)('%s', (_, create) => {
  test.each([
    ['an error of the server', { status: 500, body: 'down' }],
    ['a refused key', { status: 403, body: { error: 'Access to this API has been disallowed' } }],
    ['a redirect', { status: 302, body: {} }],
  ])('that answers with %s is unavailable', async (__, reply) => {
    replies = { '': reply };
    const engine = create(options);
    for (const answer of [await areaOf(engine), await engine.route(between, limit), await engine.matrix(matrix, limit)])
      expect(answer).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    const bounded = create({ ...options, boundary: () => true });
    expect(await bounded.state()).toMatchObject({ ok: true, value: { version: null, roadDataAt: null } });
  });

  // It was answered 503, so callers sent the same request again and again.
  test.each([400, 422])('that refuses a request with %d says why, and the request is not repeated', async (status) => {
    const reason = 'this mode needs a licence';
    replies = { '': { status, body: { error: create === createOpenRouteService ? { message: reason } : reason } } };
    if (create === createGraphHopper) replies = { '': { status, body: { message: reason } } };
    const engine = create(options);
    for (const answer of [await areaOf(engine), await engine.route(between, limit), await engine.matrix(matrix, limit)])
      expect(answer).toMatchObject({
        ok: false,
        error: { code: 'not_available', message: expect.stringContaining(reason) },
      });
  });

  // Valhalla's null ended the promise of the state, which was remembered: each isochrone was answered 500 for ten
  // minutes, and the follower of places ended the process.
  test('regression: a state of another shape is no exception, and is asked for again after seconds', async () => {
    let nowMs = 0;
    const engine = create({ ...options, boundary: () => true, now: () => nowMs });
    const isUnknown = { ok: true, value: { version: null, roadDataAt: null } };
    for (const body of ['null', [], 7, 'no JSON', { version: 3, engine: 'x', tileset_last_modified: 'x' }]) {
      replies = { '': { body } };
      expect(await engine.state()).toMatchObject(isUnknown);
      nowMs += 600_000;
    }
    replies = { '': { body: 'null' } };
    await engine.state();
    replies = { '': { body: { version: '1', engine: { version: '1' } } } };
    nowMs += 4_999;
    expect(await engine.state()).toMatchObject(isUnknown);
    nowMs += 1;
    expect(await engine.state()).toMatchObject({ ok: true, value: { version: '1' } });
  });

  test('that answers with anything else gives no area', async () => {
    for (const body of ['no JSON', [], null, { features: 3 }, { features: [] }, 7]) {
      replies = { '': { body } };
      const answer = await areaOf(create(options));
      expect(answer.ok ? answer.value : answer.error.code).toBeOneOf([undefined, 'unavailable']);
    }
  });

  // Routes and matrices of another shape were answered 500, or as they were: with texts, negative numbers and null.
  test.each([
    'null',
    '[]',
    '7',
    '"text"',
    '<html>maintenance</html>',
    '['.repeat(100_000) + ']'.repeat(100_000),
    '{"trip":7,"features":7,"paths":7,"sources_to_targets":7,"distances":7,"durations":7,"times":7}',
    '{"trip":{"legs":7},"features":[7],"paths":[7],"sources_to_targets":[7],"distances":[7],"durations":[7]}',
    '{"trip":{"legs":[]},"features":[null],"paths":[null],"sources_to_targets":[[null]],"distances":[["a"]]}',
    '{"trip":{"legs":["a"]},"features":[{}],"paths":[{}],"sources_to_targets":[[{}]],"durations":[["a"]]}',
    '{"trip":{"legs":[{}]},"features":[{"geometry":null}],"paths":[{"distance":1,"time":1}]}',
    '{"trip":{"legs":[{"summary":{"time":1,"length":1},"shape":7}]}}',
    '{"trip":{"legs":[{"summary":{"time":1,"length":1},"shape":""}]}}',
    '{"trip":{"legs":[{"summary":{"time":1,"length":1},"shape":"~~~~~~~~~~~~"}]}}',
    '{"trip":{"legs":[{"summary":{"time":"1","length":1},"shape":"??"}]}}',
    '{"trip":{"legs":[{"summary":{"time":1e400,"length":1},"shape":"??"}]}}',
    '{"trip":{"legs":[{"summary":{"time":-1,"length":1},"shape":"??"}]}}',
    '{"features":[{"geometry":{"coordinates":[]}}]}',
    '{"features":[{"geometry":{"coordinates":[["a",1]]}}]}',
    '{"features":[{"geometry":{"coordinates":[[181,1]]}}]}',
    '{"features":[{"properties":{"summary":{"distance":1e400}},"geometry":{"coordinates":[[1,1]]}}]}',
    '{"paths":[{"distance":"1","time":1,"points":{"coordinates":[[1,1]]}}]}',
    '{"paths":[{"distance":1,"time":1,"points":{"coordinates":[[1,-91]]}}]}',
    '{"paths":[{"distance":1,"time":1,"points":{"coordinates":"??"}}]}',
    '{"sources_to_targets":[[{"from_index":9,"to_index":0,"time":1,"distance":1}]]}',
    '{"sources_to_targets":[[{"from_index":0,"to_index":9,"time":1,"distance":1}]]}',
    '{"sources_to_targets":[[{"from_index":0,"to_index":0,"time":"1","distance":1}]]}',
    '{"distances":[[1e400,1]],"durations":[[1,1]],"times":[[1,1]]}',
    '{"distances":[[1,1]],"durations":[[-1,1]],"times":[[-1,1]]}',
  ])('regression: that answers in another shape (%#) gives neither a route nor a matrix', async (body) => {
    replies = { '': { body } };
    const { routes, close } = createRoadProvider(create(options), limits, Date.now);
    onTestFinished(close);
    const project = 'one';
    for (const answer of [await routes.route({ project, ...between }), await routes.matrix({ project, ...matrix })])
      expect(answer).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  });

  // Stored with the geofence, a date beyond the last one failed every list with it.
  test('regression: that says an impossible version or date has none', async () => {
    const version = `${'v'.repeat(99)}${'\ud800'.repeat(10_000)}`;
    for (const date of ['1e300', '-1', '"+275000-01-01"']) {
      const shown = `"version":${JSON.stringify(version)}`;
      const dates = `"data_date":${date},"tileset_last_modified":${date}`;
      const body = `{${shown},"engine":{${shown},"graph_date":${date}},${dates}}`;
      replies = { '': { body } };
      const engine = create({ ...options, boundary: () => true });
      onTestFinished(() => engine.close());
      const known = `${'v'.repeat(99)}\ufffd`;
      expect(await engine.state()).toMatchObject({ ok: true, value: { version: known, roadDataAt: null } });
    }
  });

  test('that gives megabytes as its reason has it cut', async () => {
    const reason = 'x'.repeat(1_000_000);
    replies = {
      '': {
        status: 400,
        body: { message: reason, error: create === createOpenRouteService ? { message: reason } : reason },
      },
    };
    const answer = await areaOf(create(options));
    expect(answer).toMatchObject({ ok: false, error: { code: 'not_available' } });
    if (!answer.ok) expect(answer.error.message.length).toBeLessThan(500);
  });

  test('that sends more than 4 MiB is unavailable', async () => {
    replies = { '': { body: `"${'x'.repeat(4 * 2 ** 20)}"` } };
    expect(await areaOf(create(options))).toMatchObject({
      ok: false,
      error: { code: 'unavailable', message: expect.stringContaining('4 MiB') },
    });
  });

  test('that is not reachable, or answers too late, is unavailable', async () => {
    const nowhere = create({ ...options, url: 'http://127.0.0.1:1' });
    expect(await areaOf(nowhere)).toMatchObject({ ok: false, error: { code: 'unavailable' } });
    const late = await create(options).area(
      { center, minutes: 1, mode: 'car', toleranceM: undefined },
      { signal: AbortSignal.abort(), hasTime: () => false },
    );
    expect(late).toMatchObject({ ok: false, error: { code: 'unavailable' } });
  });
});

// A matrix named the parameters of a distance, so the caller looked for a parameter that the call does not have.
test.each([
  ['Valhalla', createValhallaService, { error: 'Path distance exceeds the max distance limit' }],
  ['openrouteservice', createOpenRouteService, { error: { message: 'The approximated distance exceeds the limit' } }],
] as const)(
  'regression: %s names the parameter of the call whose points are too far apart',
  async (_, create, body) => {
    replies = { '': { status: 400, body } };
    const engine = create(options);
    const refusal = (param: string) => ({ ok: false, error: { code: 'invalid_parameter', param } });
    expect(await engine.route(between, limit)).toMatchObject(refusal('destination'));
    expect(await engine.matrix(matrix, limit)).toMatchObject(refusal('destinations'));
  },
);

test('regression: GraphHopper names the parameter of the call whose mode it lacks', async () => {
  replies = { '': { status: 400, body: { message: 'unknown profile' } } };
  const engine = createGraphHopper(options);
  const refusal = (param: string) => ({ ok: false, error: { code: 'not_available', param } });
  expect(await engine.route(between, limit)).toMatchObject(refusal('modes'));
  expect(await engine.matrix(matrix, limit)).toMatchObject(refusal('mode'));
  expect(await areaOf(engine)).toMatchObject(refusal('mode'));
});
