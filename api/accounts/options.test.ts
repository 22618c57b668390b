/** Options of operators: sign-up, its confirmation by mail, and plans. */
import { expect, test } from 'vitest';
import { adminApiKey, useApi } from '../testing/fixtures.js';
import { Browser, invited, mailedToken, newEmail, password } from './testing/browser.js';

const [closed, confirming] = await Promise.all([
  useApi({ accountOptions: { signUp: 'off' }, arePlansEnabled: true }),
  useApi({ accountOptions: { confirmation: 'mail' } }),
]);
const post = (browser: Browser, url: string, body: object = {}) => browser.send('POST', url, { body });

test('while sign-up is off, the answer names the setting, and invitations still create accounts', async () => {
  const refused = await post(new Browser(closed), '/v1/signup', { email: newEmail(), password });
  expect(refused).toMatchObject({ status: 400, body: { meta: { type: 'not_available' } } });
  expect(refused.body.meta.message).toContain('signup.enabled');
  const link = await closed.call('POST', '/v1/signin/links', { key: adminApiKey });
  const operator = new Browser(closed);
  await post(operator, '/v1/signin/link', { token: link.body.token });
  const { browser, email } = await invited(closed, operator, 'owner');
  expect((await browser.send('GET', '/v1/members')).body.members).toMatchObject([{ email, role: 'owner' }]);
});

test('with confirmation a sign-up creates nothing until the mailed token is used, once', async () => {
  const email = newEmail();
  const before = confirming.readModel.projects().length;
  const browser = new Browser(confirming);
  const asked = await post(browser, '/v1/signup', { email, password, project: 'Shop' });
  expect(asked.body).toMatchObject({ meta: { code: 200 }, confirmation: 'mailed' });
  expect([asked.cookie, 'project' in asked.body]).toEqual([undefined, false]);
  expect(confirming.readModel.projects()).toHaveLength(before);
  expect((await post(browser, '/v1/signin', { email, password })).status).toBe(401);

  const token = mailedToken(confirming, email);
  const confirm = () => post(new Browser(confirming), '/v1/signup/confirm', { token });
  const answers = await Promise.all([confirm(), confirm(), confirm()]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  const created = answers.find(({ status }) => status === 200)!;
  expect(created.body.project).toMatchObject({ name: 'Shop', keys: [{}, {}, {}, { key: expect.any(String) }] });
  expect((await post(browser, '/v1/signin', { email, password })).status).toBe(200);
});

test('with confirmation an address that has an account gets the same answer, and its owner a mail', async () => {
  const email = newEmail();
  const signUp = (address: string) => post(new Browser(confirming), '/v1/signup', { email: address, password });
  await signUp(email);
  await post(new Browser(confirming), '/v1/signup/confirm', { token: mailedToken(confirming, email) });
  const puts = async (address: string) => {
    const stored = confirming.storedValues.length;
    const { status, body } = await signUp(address);
    const values = confirming.storedValues.slice(stored).map((value) => Object.keys(JSON.parse(value)));
    return { status, body: { ...body, meta: { ...body.meta, requestId: undefined } }, values };
  };
  expect(await puts(email)).toEqual(await puts(newEmail()));
  expect(confirming.mails.findLast(({ to }) => to === email)?.text).toContain('It has one already');
});

test('two confirmations of one address create one account', async () => {
  const email = newEmail();
  const tokens = [];
  for (const project of ['First', 'Second']) {
    await post(new Browser(confirming), '/v1/signup', { email, password, project });
    tokens.push(mailedToken(confirming, email));
  }
  const before = confirming.readModel.projects().length;
  const answers = await Promise.all(
    tokens.map((token) => post(new Browser(confirming), '/v1/signup/confirm', { token })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect(confirming.readModel.projects()).toHaveLength(before + 1);
});

const beacon = { description: 'x', type: 'eddystone', uid: '0'.repeat(20), coordinates: [1, 2] };

test('where plans are enabled, beacons require the enterprise plan, which only the operator sets', async () => {
  const project = await closed.newProject('Plans');
  const key = project.key('test', 'secret');
  const create = (instance: string) => closed.call('POST', '/v1/beacons', { key, body: { ...beacon, instance } });
  const setPlan = (by: string, plan: string) =>
    closed.call('PUT', `/v1/projects/${project.record._id}/plan`, { key: by, body: { plan } });
  expect(await create('0'.repeat(12))).toMatchObject({ status: 403, body: { meta: { type: 'plan_required' } } });
  expect((await closed.call('GET', '/v1/beacons', { key })).status).toBe(200);
  expect((await setPlan(key, 'enterprise')).status).toBe(403);
  expect((await setPlan(adminApiKey, 'gold')).status).toBe(400);
  expect((await setPlan(adminApiKey, 'enterprise')).body.project.plan).toBe('enterprise');
  const { body } = await create('0'.repeat(12));
  expect((await setPlan(adminApiKey, 'basic')).status).toBe(200);
  expect((await create('1'.repeat(12))).status).toBe(403);
  // Existing records stay, and may be disabled and deleted. Nobody could disable them but by deleting them.
  const { _id } = body.beacon;
  const refused = { status: 403, body: { meta: { type: 'plan_required' } } };
  const write = (method: 'PUT' | 'PATCH' | 'DELETE', given: object) =>
    closed.call(method, `/v1/beacons/${_id}`, { key, body: given });
  const bulk = (action: string) => closed.call('POST', '/v1/beacons/bulk', { key, body: { action, ids: [_id] } });
  expect(await write('PATCH', { description: 'Other' })).toMatchObject(refused);
  expect(await write('PATCH', { enabled: false })).toMatchObject({ status: 200, body: { beacon: { enabled: false } } });
  expect(await write('PATCH', { enabled: true })).toMatchObject(refused);
  const disabled = { ...beacon, instance: '0'.repeat(12), enabled: false };
  expect((await write('PUT', disabled)).status).toBe(200);
  expect(await closed.call('POST', '/v1/beacons', { key, body: disabled })).toMatchObject(refused);
  expect(await bulk('enable')).toMatchObject(refused);
  expect(await bulk('disable')).toMatchObject({ status: 200, body: { unchanged: 1 } });
  expect((await write('DELETE', {})).status).toBe(200);
});

test('without plans every project may use beacons', async () => {
  const { keyOf } = await (async () => {
    const email = newEmail();
    const browser = new Browser(confirming);
    await post(browser, '/v1/signup', { email, password });
    const { body } = await post(browser, '/v1/signup/confirm', { token: mailedToken(confirming, email) });
    return { keyOf: () => body.project.keys[1].key as string };
  })();
  const created = await confirming.call('POST', '/v1/beacons', {
    key: keyOf(),
    body: { ...beacon, instance: '0'.repeat(12) },
  });
  expect(created.status).toBe(200);
});
