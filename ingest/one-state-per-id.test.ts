/**
 * Ids whose text cannot be written down as it came (half of a surrogate pair, bytes that are not UTF-8, broken
 * percent-encoding) used to become U+FFFD: `a\ud800` and `a\udbff` were one device with one state. Every input refuses
 * them, names the field, and takes everything else.
 */
import avro from 'avsc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wellFormedRule } from '../http/fields/text.js';
import { type DeviceApi, north, startDeviceApi } from '../testing/device-api.js';
import { container } from './bulk/avro/testing/container.js';

let ingest: DeviceApi;
beforeAll(async () => {
  ingest = await startDeviceApi();
});
afterAll(() => ingest.close());

const good = { deviceId: 'good', ...north(0) };
const textFields = [
  'deviceId',
  'userId',
  'installId',
  'sessionId',
  'description',
  'source',
  'deviceType',
  'deviceMake',
  'deviceModel',
  'deviceOS',
  'sdkVersion',
  'locationAuthorization',
  'locationAccuracyAuthorization',
];

async function send(method: 'POST' | 'GET', url: string, body: string | Buffer | undefined, type: string) {
  const headers = { authorization: ingest.secret, ...(body !== undefined && { 'content-type': type }) };
  return ingest.app.inject({ method, url, headers, ...(body !== undefined && { payload: body }) });
}
const json = (url: string, body: object) => send('POST', url, JSON.stringify(body), 'application/json');
const form = (url: string, body: string) => send('POST', url, body, 'application/x-www-form-urlencoded');

const problem = (param: string, rule = wellFormedRule) => ({
  code: 400,
  type: 'invalid_parameter',
  param,
  message: `${param}: ${rule}`,
});

describe.each(['\ud800', 'x\udbff', '\udc00x'])('the text %j', (broken) => {
  it.each(textFields)('is refused as %s of a location', async (name) => {
    expect((await json('/v1/track', { ...good, [name]: broken })).json().meta).toMatchObject(problem(name));
  });

  it('is refused within metadata, as a value and as a key, and within JSON inside JSON', async () => {
    const track = async (metadata: unknown) => (await json('/v1/track', { ...good, metadata })).json().meta;
    expect(await track({ a: broken })).toMatchObject(problem('metadata.a'));
    expect(await track({ [broken]: 1 })).toMatchObject(problem(`metadata.${broken.toWellFormed()}`));
    expect(await track(JSON.stringify({ a: broken }))).toMatchObject(problem('metadata.a'));
  });

  it('is refused in a replay by its index, and the others count', async () => {
    const answer = (await json('/v1/track/replay', { replays: [good, { ...good, userId: broken }, good] })).json();
    expect(answer.rejections).toEqual([{ index: 1, param: 'userId', message: `userId: ${wellFormedRule}` }]);
    expect(answer.user.deviceId).toBe('good');
  });

  it('is refused in a line of an upload by its number, and the others count', async () => {
    const lines = [good, { ...good, deviceId: broken }, good].map((line) => JSON.stringify(line)).join('\n');
    const answer = (await send('POST', '/v1/locations', lines, 'application/x-ndjson')).json();
    const rejections = [{ line: 2, param: 'deviceId', message: `deviceId: ${wellFormedRule}` }];
    expect(answer).toEqual({ meta: { code: 200 }, accepted: 2, rejected: 1, rejections });
  });

  it('is refused as an id of an event', async () => {
    expect((await json('/v1/events', { name: 'bought', userId: broken })).json().meta).toMatchObject(problem('userId'));
    expect((await json('/v1/events', { name: 'bought', metadata: { a: broken } })).json().meta).toMatchObject(
      problem('metadata.a'),
    );
  });
});

it('bytes that are not UTF-8 are refused in a JSON body, with their place', async () => {
  const body = Buffer.concat([Buffer.from('{"deviceId":"é'), Buffer.from([0xff]), Buffer.from('","latitude":1}')]);
  expect((await send('POST', '/v1/track', body, 'application/json')).json().meta).toMatchObject({
    code: 400,
    type: 'invalid_body',
    message: 'the body is not UTF-8: byte 16',
  });
});

it('bytes that are not UTF-8 cost an upload one line', async () => {
  const line = Buffer.from(`${JSON.stringify(good)}\n`);
  const body = Buffer.concat([line, Buffer.from('{"deviceId":"\xff"}\n', 'latin1'), line]);
  const answer = (await send('POST', '/v1/locations', body, 'application/x-ndjson')).json();
  expect(answer).toMatchObject({
    accepted: 2,
    rejections: [{ line: 2, param: 'line', message: 'line: must be UTF-8' }],
  });
});

it('bytes that are not UTF-8 cost an Avro container one record', async () => {
  const type = avro.Type.forSchema({
    type: 'record',
    name: 'L',
    fields: [
      { name: 'deviceId', type: 'string' },
      { name: 'latitude', type: 'double' },
      { name: 'longitude', type: 'double' },
      { name: 'accuracy', type: 'double' },
    ],
  });
  const records = [good, { ...good, deviceId: 'bad!' }, good].map((record) => type.toBuffer(record));
  records[1]!.fill(0xff, 1, 5);
  const body = container(type.schema(), [{ count: records.length, bytes: Buffer.concat(records) }]);
  const answer = (await send('POST', '/v1/locations', body, 'application/avro')).json();
  const message = 'deviceId: must be text of at most 256 characters';
  expect(answer).toMatchObject({ accepted: 2, rejections: [{ line: 2, param: 'deviceId', message }] });
});

describe('percent-encoding that is not UTF-8 is refused, with its field', () => {
  const rule = 'must be percent-encoded UTF-8';
  const { latitude, longitude, accuracy } = good;
  const fields = `latitude=${latitude}&longitude=${longitude}&accuracy=${accuracy}`;
  it.each(['%ED%A0%80', '%FF', '%', '%zz', '%C0%80'])('%s', async (broken) => {
    expect((await form('/v1/track', `deviceId=${broken}&${fields}`)).json().meta).toMatchObject(
      problem('deviceId', rule),
    );
    const query = await send('GET', `/v1/context?coordinates=1,2&userId=${broken}`, undefined, '');
    expect(query.json().meta).toMatchObject(problem('userId', rule));
    const path = await send('GET', `/v1/events/${broken}/verification`, undefined, '');
    expect(path.json().meta).toMatchObject(problem('path', rule));
  });

  it('and everything else is read as it was meant', async () => {
    const answer = await form('/v1/track', `deviceId=%F0%9F%98%80+100%25&${fields}`);
    expect(answer.json().user.deviceId).toBe('😀 100%');
  });
});
