import { expect, test } from 'vitest';
import { defaultSettings } from '../../schemas/json/project.js';
import { useApi } from '../testing/fixtures.js';

const api = await useApi();

test('a change merges, in its environment only', async () => {
  expect((await api.call('GET', '/v1/settings')).body).toEqual({ meta: { code: 200 }, settings: defaultSettings });
  const changed = { ...defaultSettings, dwellEvents: true, defaultDwellThreshold: 5 };
  expect(
    (await api.call('PUT', '/v1/settings', { body: { dwellEvents: true, defaultDwellThreshold: 5 } })).body.settings,
  ).toEqual(changed);
  expect((await api.call('PUT', '/v1/settings', { body: 'bufferExits=true' })).body.settings).toEqual({
    ...changed,
    bufferExits: true,
  });
  expect((await api.call('GET', '/api/v1/settings')).body.settings).toEqual({ ...changed, bufferExits: true });
  const live = api.project.key('live', 'secret');
  expect((await api.call('GET', '/v1/settings', { key: live })).body.settings).toEqual(defaultSettings);
});

test('changes at the same time are all applied', async () => {
  const { key } = await api.newProject('Race');
  const secret = key('test', 'secret');
  const names = ['stopDetection', 'bufferEntries', 'bufferExits', 'restrictToOperatingHours', 'dwellEvents'];
  await Promise.all(names.map((name) => api.call('PUT', '/v1/settings', { key: secret, body: { [name]: true } })));
  expect((await api.call('GET', '/v1/settings', { key: secret })).body.settings).toMatchObject(
    Object.fromEntries(names.map((name) => [name, true])),
  );
});

test('an unknown setting is refused', async () => {
  expect(await api.call('PUT', '/v1/settings', { body: { dwellevents: true } })).toMatchObject({
    status: 400,
    body: { meta: { param: 'dwellevents' } },
  });
});
