import { expect, onTestFinished, test } from 'vitest';
import { dayMs } from '../../schemas/durations.js';
import { adminApiKey, startApi, useApi } from '../testing/fixtures.js';
import { maxOwnedProjects } from './project-routes.js';
import { Browser, invited, password, signedUp } from './testing/browser.js';

const api = await useApi();
const create = (browser: Browser, name = 'Second') => browser.send('POST', '/v1/account/projects', { body: { name } });

test('an account creates a further project, which it owns and whose keys it sees once', async () => {
  const { browser, project } = await signedUp(api);
  const { status, body } = await create(browser);
  expect(status).toBe(200);
  expect(body.session.projects).toEqual(
    expect.arrayContaining([
      { _id: project._id, name: project.name, role: 'owner' },
      { _id: body.project._id, name: 'Second', role: 'owner' },
    ]),
  );
  const key = body.project.keys.find((each: { kind: string }) => each.kind === 'secret').key;
  expect((await api.call('GET', '/v1/settings', { key })).status).toBe(200);
  expect(await create(browser, '')).toMatchObject({ status: 400, body: { meta: { param: 'name' } } });
});

// After a lost answer the account had two projects, and the keys of the first one were shown to nobody.
test('a repeated creation of a project gets the first answer, with its keys', async () => {
  const { browser } = await signedUp(api);
  const repeated = () =>
    browser.send('POST', '/v1/account/projects', { body: { name: 'Once' }, headers: { 'idempotency-key': 'one' } });
  const first = await repeated();
  expect(await repeated()).toMatchObject({ status: 200, body: first.body });
  // The keys of one account are not those of another.
  const { browser: other } = await signedUp(api);
  const answer = await other.send('POST', '/v1/account/projects', {
    body: { name: 'Once' },
    headers: { 'idempotency-key': 'one' },
  });
  expect(answer.body.project._id).not.toBe(first.body.project._id);
});

test('an account owns a bounded number of projects, however many requests come at once', async () => {
  const { browser } = await signedUp(api);
  const answers = await Promise.all(Array.from({ length: maxOwnedProjects + 2 }, () => create(browser)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(maxOwnedProjects - 1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(3);
});

// Each deleted project leaves erasures, which take their turns for weeks.
test('an account creates a bounded number of projects in a day, however many it deletes', async () => {
  const time = { nowMs: Date.UTC(2026, 0, 1) };
  const server = await startApi({ clock: () => time.nowMs });
  onTestFinished(() => server.close());
  const { browser, email } = await signedUp(server);
  const createdAndDeleted = async () => {
    const { status, body } = await create(browser);
    if (status !== 200) return { status, body };
    const { _id } = body.project;
    const headers = { 'x-fenceline-project': _id };
    return browser.send('DELETE', `/v1/projects/${_id}?name=Second`, { headers });
  };
  for (let made = 0; made < 100; made++) expect((await createdAndDeleted()).status).toBe(202);
  expect(await createdAndDeleted()).toMatchObject({ status: 429, body: { meta: { type: 'too_many_attempts' } } });
  time.nowMs += dayMs;
  await browser.send('POST', '/v1/signin', { body: { email, password } });
  expect((await createdAndDeleted()).status).toBe(202);
});

test('nobody without an account creates a project', async () => {
  expect((await create(new Browser(api))).status).toBe(401);
});

test('while sign-up is off, viewers create no project, and owners do', async () => {
  const closed = await startApi({ accountOptions: { signUp: 'off' } });
  onTestFinished(() => closed.close());
  const link = await closed.call('POST', '/v1/signin/links', {
    key: adminApiKey,
    body: { project: closed.project.record._id },
  });
  const operator = new Browser(closed);
  await operator.send('POST', '/v1/signin/link', { body: { token: link.body.token } });
  expect((await create(operator)).status).toBe(403);
  const { browser: viewer } = await invited(closed, operator, 'viewer');
  expect((await create(viewer)).status).toBe(403);
  const { browser: owner } = await invited(closed, operator, 'owner');
  expect((await create(owner)).status).toBe(200);
});
