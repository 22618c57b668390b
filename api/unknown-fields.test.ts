/** Unknown fields. Regression: a misspelt field of a geofence or beacon was ignored, and the call was answered 200. */
import { describe, expect, it } from 'vitest';
import { useApi } from './testing/fixtures.js';

const api = await useApi();

const resources = [
  [
    'geofences',
    { description: 'Shop', type: 'circle', coordinates: [10, 50], radius: 100 },
    'geofence',
    'dwellTreshold',
    'dwellThreshold',
  ],
  [
    'beacons',
    {
      description: 'Door',
      type: 'ibeacon',
      uuid: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
      major: 1,
      minor: 2,
      coordinates: [10, 50],
    },
    'beacon',
    'enabeld',
    'enabled',
  ],
] as const;

describe.each(resources)('%s', (path, fields, name, misspelt, meant) => {
  it('refuse an unknown field in every call, and suggest the nearest one', async () => {
    const { body } = await api.call('PUT', `/v1/${path}/a/b`, { body: fields });
    const pair = { tag: 'a', externalId: 'b' };
    for (const [method, url, more] of [
      ['POST', `/v1/${path}`, pair],
      ['PUT', `/v1/${path}/a/b`, {}],
      ['PUT', `/v1/${path}/${body[name]._id}`, {}],
    ] as const) {
      const answer = await api.call(method, url, { body: { ...fields, ...more, [misspelt]: 5 } });
      expect(answer.status).toBe(400);
      expect(answer.body.meta).toMatchObject({
        type: 'invalid_parameter',
        param: misspelt,
        message: `${misspelt}: is not a known field; did you mean ${meant}?`,
      });
    }
    const form = await api.call('PUT', `/v1/${path}/a/b`, { body: `description=x&${misspelt}=1` });
    expect(form.body.meta.param).toBe(misspelt);
  });

  it('refuse a record whose metadata was left out of an answer: it would delete the metadata', async () => {
    const answer = await api.call('PUT', `/v1/${path}/a/d`, { body: { ...fields, metadataOmitted: true } });
    expect(answer).toMatchObject({ status: 400, body: { meta: { param: 'metadataOmitted' } } });
  });

  it('accept a record that was read, unused fields of clients, and dictionaries by key', async () => {
    const { body } = await api.call('PUT', `/v1/${path}/a/c`, { body: { ...fields, metadata: { open: true } } });
    const read = body[name];
    const again = await api.call('PUT', `/v1/${path}/${read._id}`, {
      body: { ...read, ...fields, tripApproachingThreshold: 5, 'metadata.open': undefined },
    });
    expect(again).toMatchObject({ status: 200 });
    const byKey = await api.call('PUT', `/v1/${path}/a/c`, { body: { ...fields, 'metadata.floor': 2 } });
    expect(byKey).toMatchObject({ status: 200, body: { [name]: { metadata: { floor: 2 } } } });
  });
});
