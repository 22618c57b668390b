import { expect, test } from 'vitest';
import { Browser, invited, signedUp } from '../accounts/testing/browser.js';
import { adminApiKey, useApi } from '../testing/fixtures.js';

const api = await useApi();

const key = adminApiKey;

test('a new project has four keys that work at once and are shown only once', async () => {
  const { status, body } = await api.call('POST', '/v1/projects', { key, body: { name: 'Made' } });
  expect(status).toBe(200);
  const { _id, keys } = body.project;
  expect(keys.map((item: { key: string }) => item.key.replace(/_[0-9a-f]+$/, ''))).toEqual([
    'prj_test_pk',
    'prj_test_sk',
    'prj_live_pk',
    'prj_live_sk',
  ]);
  expect((await api.call('GET', '/v1/settings', { key: keys[1].key })).status).toBe(200);
  expect((await api.call('GET', '/v1/settings', { key: keys[0].key })).status).toBe(403);
  const shown = (await api.call('GET', `/v1/projects/${_id}`, { key })).body.project;
  expect(shown.keys.map((item: object) => 'key' in item)).toEqual([false, false, false, false]);
  expect((await api.call('GET', '/v1/projects', { key })).body.projects).toContainEqual(shown);
});

test('a rotated key replaces the old one at once, the others stay', async () => {
  const project = await api.newProject('Rotated');
  const old = project.key('test', 'secret');
  const answer = await api.call('POST', `/v1/projects/${project.record._id}/keys/rotate`, {
    key,
    body: { environment: 'test', kind: 'secret' },
  });
  expect(answer.body.project.keys.filter((item: object) => 'key' in item)).toEqual([]);
  expect((await api.call('GET', '/v1/settings', { key: old })).status).toBe(401);
  expect((await api.call('GET', '/v1/settings', { key: answer.body.key })).status).toBe(200);
  expect((await api.call('GET', '/v1/settings', { key: project.key('live', 'secret') })).status).toBe(200);
});

test('requires the admin API key, and an existing project', async () => {
  expect((await api.call('GET', '/v1/projects')).status).toBe(403);
  expect((await api.call('GET', '/v1/projects', { key: '' })).status).toBe(401);
  expect((await api.call('POST', '/v1/projects', { key, body: {} })).body.meta).toMatchObject({
    code: 400,
    param: 'name',
  });
  const rotate = (id: string, body: object) => api.call('POST', `/v1/projects/${id}/keys/rotate`, { key, body });
  expect((await rotate('0'.repeat(24), { environment: 'test', kind: 'secret' })).status).toBe(404);
  expect((await rotate(api.project.record._id, { environment: 'test' })).body.meta).toMatchObject({
    code: 400,
    param: 'kind',
  });
});

test('a new key and a plan refuse fields that they do not know', async () => {
  const { record, key: keyOf } = await api.newProject('Exact');
  const path = `/v1/projects/${record._id}`;
  const body = { environment: 'test', kind: 'secret', overlapHours: 24 };
  expect((await api.call('POST', `${path}/keys/rotate`, { key, body })).body.meta.param).toBe('overlapHours');
  expect((await api.call('GET', '/v1/settings', { key: keyOf('test', 'secret') })).status).toBe(200);
  const plan = await api.call('PUT', `${path}/plan`, { key, body: { plan: 'enterprise', until: '2030-01-01' } });
  expect(plan.body.meta.param).toBe('until');
});

test('a PATCH changes the name or the plan, and a repetition with other fields keeps the rest', async () => {
  const { record } = await api.newProject('Before');
  const patch = (body: object) => api.call('PATCH', `/v1/projects/${record._id}`, { key, body });
  expect((await patch({ name: 'After' })).body.project).toMatchObject({ name: 'After' });
  expect((await patch({ plan: 'enterprise' })).body.project).toMatchObject({ name: 'After', plan: 'enterprise' });
  const { project } = (await patch({ plan: null })).body;
  expect(project).toMatchObject({ name: 'After', keys: [{}, {}, {}, {}] });
  expect('plan' in project).toBe(false);
  for (const [body, param] of [
    [{ name: null }, 'name'],
    [{ name: 'x'.repeat(201) }, 'name'],
    [{ plan: 'gold' }, 'plan'],
    [{ nmae: 'A' }, 'nmae'],
  ] as const) {
    expect((await patch(body)).body.meta).toMatchObject({ code: 400, param });
  }
  expect((await api.call('PATCH', `/v1/projects/${'0'.repeat(24)}`, { key, body: { name: 'A' } })).status).toBe(404);
});

test('an owner may rename the project, but not give it a plan', async () => {
  const { browser, project } = await signedUp(api);
  const other = await api.newProject('Of others');
  const patch = (id: string, body: object) =>
    browser.send('PATCH', `/v1/projects/${id}`, { body, headers: { 'x-fenceline-project': project._id } });
  expect((await patch(project._id, { name: 'Ours' })).body.project.name).toBe('Ours');
  expect((await patch(project._id, { plan: 'enterprise' })).body.meta).toMatchObject({ code: 403 });
  expect((await patch(other.record._id, { name: 'Ours' })).status).toBe(403);
});

test('an owner deletes the project by its name: its keys are refused at once, and erasures are written', async () => {
  const { browser, project, keyOf } = await signedUp(api);
  const other = await api.newProject('Of others');
  const { browser: viewer } = await invited(api, browser, 'viewer');
  const remove = (by: Browser, id: string, name: string) =>
    by.send('DELETE', `/v1/projects/${id}?name=${encodeURIComponent(name)}`);
  expect((await remove(viewer, project._id, project.name)).status).toBe(403);
  expect((await remove(browser, other.record._id, 'Of others')).status).toBe(403);
  for (const name of ['', 'my project']) {
    expect(await remove(browser, project._id, name)).toMatchObject({
      status: 400,
      body: { meta: { type: 'invalid_parameter', param: 'name' } },
    });
  }
  expect((await api.call('GET', '/v1/settings', { key: keyOf('live', 'secret') })).status).toBe(200);
  expect(await remove(browser, project._id, project.name)).toMatchObject({
    status: 202,
    body: { meta: { code: 202 } },
  });
  for (const environment of ['test', 'live'] as const) {
    expect((await api.call('GET', '/v1/settings', { key: keyOf(environment, 'secret') })).status).toBe(401);
    expect(api.readModel.erasures({ project: project._id, environment })).toMatchObject([
      { subject: 'project', completedAt: null },
    ]);
  }
  expect((await browser.send('GET', '/v1/session')).body.session).toMatchObject({ projects: [] });
  expect((await remove(browser, project._id, project.name)).status).toBe(403);
});

test('the operator deletes a project, a link of which signs nobody in any more', async () => {
  const { record } = await api.newProject('Left');
  const { token } = (await api.call('POST', '/v1/signin/links', { key, body: { project: record._id } })).body;
  const browser = new Browser(api);
  expect((await browser.send('POST', '/v1/signin/link', { body: { token } })).status).toBe(200);
  const remove = (query = '?name=Left') => api.call('DELETE', `/v1/projects/${record._id}${query}`, { key });
  expect((await remove('')).body.meta).toMatchObject({ code: 400, param: 'name' });
  expect((await remove()).status).toBe(202);
  expect((await remove()).status).toBe(404);
  expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  expect((await api.call('GET', '/v1/projects', { key })).body.projects).not.toContainEqual(
    expect.objectContaining({ _id: record._id }),
  );
});
