import { expect, test } from 'vitest';
import { adminApiKey, useApi } from '../testing/fixtures.js';
import { Browser, invited, mailedToken, newEmail, password, signedUp } from './testing/browser.js';

const api = await useApi();
const post = (browser: Browser, url: string, body: object = {}) => browser.send('POST', url, { body });

test('a sign-up creates an account, a project and four keys that work, and signs in', async () => {
  const { browser, email, project, keyOf } = await signedUp(api);
  expect(project.name).toBe('My project');
  for (const environment of ['test', 'live'] as const) {
    expect((await api.call('GET', '/v1/settings', { key: keyOf(environment, 'secret') })).status).toBe(200);
    expect((await api.call('GET', '/v1/settings', { key: keyOf(environment, 'publishable') })).status).toBe(403);
  }
  const { body } = await browser.send('GET', '/v1/session');
  expect(body.session).toMatchObject({
    account: { email },
    projects: [{ _id: project._id, name: 'My project', role: 'owner' }],
    environments: ['test', 'live'],
  });
});

test('the keys are shown only once', async () => {
  const { browser, project, keyOf } = await signedUp(api);
  for (const url of ['/v1/session', `/v1/projects/${project._id}`, '/v1/members']) {
    const { status, body } = await browser.send('GET', url);
    expect(status).toBe(200);
    expect(JSON.stringify(body)).not.toContain(keyOf('test', 'secret'));
  }
});

test('one address in any case has one account, and a refused sign-up leaves no project', async () => {
  const { email } = await signedUp(api);
  const before = api.readModel.projects().length;
  const again = await post(new Browser(api), '/v1/signup', { email: email.toUpperCase(), password });
  expect(again.status).toBe(409);
  expect(api.readModel.projects()).toHaveLength(before);
});

test('of concurrent sign-ups of one address one succeeds, and only its project exists', async () => {
  const email = newEmail();
  const before = api.readModel.projects().length;
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => post(new Browser(api), '/v1/signup', { email, password })),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409]);
  expect(api.readModel.projects()).toHaveLength(before + 1);
});

test.each([
  ['no password', { email: 'a@example.com' }, 'password'],
  ['a short password', { email: 'a@example.com', password: 'elevenchars' }, 'password'],
  ['a long password', { email: 'a@example.com', password: 'a'.repeat(257) }, 'password'],
  ['the address as password', { email: 'ada@example.com', password: 'ADA@example.com!' }, 'password'],
  ['no address', { password }, 'email'],
  ['two addresses', { email: 'a@example.com,b@example.com', password }, 'email'],
  ['a header in the address', { email: 'a@example.com\r\nBcc: b@example.com', password }, 'email'],
  ['an unknown field', { email: 'a@example.com', password, rolle: 'owner' }, 'rolle'],
])('a sign-up with %s is refused, and the field is named', async (_, body, param) => {
  const answer = await post(new Browser(api), '/v1/signup', body);
  expect(answer).toMatchObject({ status: 400, body: { meta: { type: 'invalid_parameter', param } } });
});

test('signing in and out', async () => {
  const { email } = await signedUp(api);
  const browser = new Browser(api);
  expect((await post(browser, '/v1/signin', { email: ` ${email.toUpperCase()}`, password })).status).toBe(200);
  expect((await browser.send('GET', '/v1/settings')).status).toBe(200);
  const { cookie } = browser;
  expect((await post(browser, '/v1/signout')).status).toBe(200);
  expect(browser.cookie).toBe('');
  // A kept cookie is invalid.
  browser.cookie = cookie;
  expect((await browser.send('GET', '/v1/settings')).status).toBe(401);
  expect((await browser.send('GET', '/v1/session')).status).toBe(401);
});

test('signing out everywhere ends the sessions of all browsers, and only of this account', async () => {
  const { browser, email } = await signedUp(api);
  const other = await signedUp(api);
  const phone = new Browser(api);
  await post(phone, '/v1/signin', { email, password });
  expect((await post(phone, '/v1/signout', { everywhere: true })).status).toBe(200);
  expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  expect((await other.browser.send('GET', '/v1/session')).status).toBe(200);
  expect((await post(browser, '/v1/signin', { email, password })).status).toBe(200);
});

const listed = async (browser: Browser) => (await browser.send('GET', '/v1/sessions')).body.sessions;

test('an account sees the browsers that are signed in, and signs one of them out', async () => {
  const { browser, email } = await signedUp(api);
  const stranger = await signedUp(api);
  const phone = new Browser(api, { 'user-agent': 'Phone/1' });
  await post(phone, '/v1/signin', { email, password });
  const seen = await listed(browser);
  expect(seen).toHaveLength(2);
  const ofPhone = seen.find(({ current }: { current: boolean }) => !current);
  expect(ofPhone).toMatchObject({ userAgent: 'Phone/1', startedAt: expect.any(String), usedAt: expect.any(String) });
  expect(phone.cookie).not.toContain(ofPhone._id);
  expect(await listed(stranger.browser)).toHaveLength(1);

  expect((await stranger.browser.send('DELETE', `/v1/sessions/${ofPhone._id}`)).status).toBe(404);
  expect((await phone.send('GET', '/v1/session')).status).toBe(200);
  const foreign = { headers: { 'sec-fetch-site': 'cross-site' } };
  expect((await browser.send('DELETE', `/v1/sessions/${ofPhone._id}`, foreign)).status).toBe(403);
  expect((await browser.send('DELETE', `/v1/sessions/${ofPhone._id}`)).status).toBe(200);
  expect((await phone.send('GET', '/v1/session')).status).toBe(401);
  expect(await listed(browser)).toHaveLength(1);
});

/** Signs a new browser in as owner of the project, without an account. */
async function signedInByLink(project: string): Promise<Browser> {
  const link = await api.call('POST', '/v1/signin/links', { key: adminApiKey, body: { project } });
  const browser = new Browser(api, { 'user-agent': 'Link/1' });
  expect((await post(browser, '/v1/signin/link', { token: link.body.token })).status).toBe(200);
  return browser;
}

// Nobody else could see or end such a session, which acts as an owner for up to a week.
test('owners see and end the sessions that began by a one-time link to their project', async () => {
  const { browser, project } = await signedUp(api);
  const other = await signedUp(api);
  const viewer = await invited(api, browser, 'viewer');
  const operators = [await signedInByLink(project._id), await signedInByLink(project._id)] as const;

  const ofLinks = (sessions: { project: string | null }[]) => sessions.filter((each) => each.project !== null);
  const seen = ofLinks(await listed(browser)) as unknown as { _id: string }[];
  expect(seen).toHaveLength(2);
  expect(seen[0]).toMatchObject({ project: project._id, current: false, userAgent: 'Link/1' });
  expect(await listed(operators[0])).toHaveLength(2);
  expect(ofLinks(await listed(other.browser))).toEqual([]);
  expect(ofLinks(await listed(viewer.browser))).toEqual([]);

  for (const stranger of [other.browser, viewer.browser])
    expect((await stranger.send('DELETE', `/v1/sessions/${seen[0]!._id}`)).status).toBe(404);
  for (const { _id } of seen) expect((await browser.send('DELETE', `/v1/sessions/${_id}`)).status).toBe(200);
  for (const operator of operators) expect((await operator.send('GET', '/v1/settings')).status).toBe(401);
  expect(ofLinks(await listed(browser))).toEqual([]);
});

test('signing out all other browsers keeps this one, and so does a change of the password', async () => {
  const { browser, email } = await signedUp(api);
  const change = () => browser.send('PUT', '/v1/password', { body: { current: password, password } });
  for (const endOthers of [() => browser.send('DELETE', '/v1/sessions'), change]) {
    const phone = new Browser(api);
    await post(phone, '/v1/signin', { email, password });
    expect(await listed(browser)).toHaveLength(2);
    expect((await endOthers()).status).toBe(200);
    expect((await phone.send('GET', '/v1/session')).status).toBe(401);
    expect(await listed(browser)).toMatchObject([{ current: true }]);
  }
});

test('browsers that sign in at once are all listed, and one that signs out is not', async () => {
  const { browser, email } = await signedUp(api);
  const others = Array.from({ length: 4 }, () => new Browser(api));
  await Promise.all(others.map((other) => post(other, '/v1/signin', { email, password })));
  expect(await listed(browser)).toHaveLength(5);
  await post(others[0]!, '/v1/signout');
  expect(await listed(browser)).toHaveLength(4);
});

test('an owner acts like a secret key of the chosen environment', async () => {
  const { browser, keyOf, project } = await signedUp(api);
  const change = { body: { minimumConfidence: 2 }, headers: { 'x-fenceline-environment': 'live' } };
  expect((await browser.send('PUT', '/v1/settings', change)).status).toBe(200);
  const seen = async (key: string) => (await api.call('GET', '/v1/settings', { key })).body.settings.minimumConfidence;
  expect([await seen(keyOf('live', 'secret')), await seen(keyOf('test', 'secret'))]).toEqual([2, 1]);
  const byQuery = await browser.send('GET', `/v1/settings?environment=live&project=${project._id}`);
  expect(byQuery.body.settings.minimumConfidence).toBe(2);
  expect((await browser.send('GET', '/v1/settings')).body.settings.minimumConfidence).toBe(1);
  const wrong = await browser.send('GET', '/v1/settings?environment=prod');
  expect(wrong).toMatchObject({ status: 400, body: { meta: { param: 'environment' } } });
  // A key determines its environment.
  expect((await api.call('GET', '/v1/settings?environment=live')).status).toBe(400);
});

test('a session reaches no project that its account is not a member of', async () => {
  const { browser } = await signedUp(api);
  const other = await signedUp(api);
  const refusals = [];
  for (const project of [other.project._id, '0'.repeat(24), 'x']) {
    refusals.push(await browser.send('GET', '/v1/settings', { headers: { 'x-fenceline-project': project } }));
  }
  for (const { status, body } of refusals) {
    expect(status).toBe(403);
    expect(body.meta.message).toBe(refusals[0]?.body.meta.message);
  }
  expect((await browser.send('GET', `/v1/projects/${other.project._id}`)).status).toBe(403);
  const rotation = { body: { environment: 'test', kind: 'secret' } };
  expect((await browser.send('POST', `/v1/projects/${other.project._id}/keys/rotate`, rotation)).status).toBe(403);
  // The answer said that there was no session.
  expect(await browser.send('GET', '/v1/projects')).toMatchObject({
    status: 401,
    body: { meta: { message: 'the Authorization header has no key, and this call requires the admin API key' } },
  });
  expect((await browser.send('POST', '/v1/projects', { body: { name: 'x' } })).status).toBe(401);
});

test('an owner replaces keys of the own project', async () => {
  const { browser, project, keyOf } = await signedUp(api);
  const body = { environment: 'test', kind: 'secret' };
  const { status, body: answer } = await browser.send('POST', `/v1/projects/${project._id}/keys/rotate`, { body });
  expect(status).toBe(200);
  expect((await api.call('GET', '/v1/settings', { key: keyOf('test', 'secret') })).status).toBe(401);
  expect((await api.call('GET', '/v1/settings', { key: answer.key })).status).toBe(200);
});

test('a key opens no route of sessions and members', async () => {
  const { keyOf } = await signedUp(api);
  for (const url of ['/v1/session', '/v1/members', '/v1/invitations']) {
    expect((await api.call('GET', url, { key: keyOf('test', 'secret') })).status).toBe(403);
    expect((await api.call('GET', url, { key: adminApiKey })).status).toBe(403);
    expect((await api.call('GET', url, { key: '' })).status).toBe(401);
  }
});

test('a key counts when a request has a session, too', async () => {
  const { browser } = await signedUp(api);
  const { status } = await browser.send('GET', '/v1/settings', { headers: { authorization: 'prj_test_sk_wrong' } });
  expect(status).toBe(401);
});

test('a viewer reads, changes nothing, and sees neither keys nor invitations', async () => {
  const owner = await signedUp(api);
  const viewer = (await invited(api, owner.browser, 'viewer')).browser;
  for (const url of ['/v1/settings', '/v1/geofences', '/v1/beacons', '/v1/webhooks', '/v1/members', '/v1/session']) {
    const { status, body } = await viewer.send('GET', url);
    expect([url, status]).toEqual([url, 200]);
    expect(JSON.stringify(body)).not.toMatch(/_sk_|_pk_|whsec_/);
  }
  const fence = { description: 'x', tag: 'a', externalId: 'b', type: 'circle', coordinates: [1, 2], radius: 100 };
  const id = '0'.repeat(24);
  const refused: [method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: object][] = [
    ['PUT', '/v1/settings', { minimumConfidence: 3 }],
    ['POST', '/v1/geofences', fence],
    ['PUT', '/v1/geofences/a/b', fence],
    ['DELETE', '/v1/geofences/a/b'],
    ['POST', '/v1/webhooks', { url: 'https://example.com' }],
    ['POST', '/v1/track', { deviceId: 'a', latitude: 1, longitude: 2, accuracy: 3 }],
    ['POST', '/v1/explain', {}],
    ['GET', `/v1/projects/${owner.project._id}`],
    ['POST', `/v1/projects/${owner.project._id}/keys/rotate`, { environment: 'test', kind: 'secret' }],
    ['GET', '/v1/invitations'],
    ['POST', '/v1/invitations', { email: newEmail(), role: 'owner' }],
    ['DELETE', `/v1/invitations/${id}`],
    ['PUT', `/v1/members/${id}`, { role: 'owner' }],
    ['DELETE', `/v1/members/${owner.account._id}`],
  ];
  for (const [method, url, body] of refused) {
    const answer = await viewer.send(method, url, body && { body });
    expect([method, url, answer.status]).toEqual([method, url, method === 'POST' && url === '/v1/track' ? 404 : 403]);
  }
});

test('an account is a member of several projects, with a role in each', async () => {
  const [first, second] = [await signedUp(api), await signedUp(api)];
  const { browser, email } = await invited(api, first.browser, 'viewer');
  await post(second.browser, '/v1/invitations', { email, role: 'owner' });
  const answer = await post(new Browser(api), '/v1/invitations/accept', {
    token: mailedToken(api, email),
    password,
  });
  expect(answer.status).toBe(200);
  const roles = Object.fromEntries(
    (await browser.send('GET', '/v1/session')).body.session.projects.map(
      ({ _id, role }: { _id: string; role: string }) => [_id, role],
    ),
  );
  expect(roles).toEqual({ [first.project._id]: 'viewer', [second.project._id]: 'owner' });
  // The session must name its project.
  expect(await browser.send('GET', '/v1/settings')).toMatchObject({
    status: 400,
    body: { meta: { param: 'project' } },
  });
  const change = (project: string) =>
    browser.send('PUT', '/v1/settings', { body: {}, headers: { 'x-fenceline-project': project } });
  expect([(await change(first.project._id)).status, (await change(second.project._id)).status]).toEqual([403, 200]);
});

test('roles change and members leave at once, and a project keeps an owner', async () => {
  const { browser, account } = await signedUp(api);
  const viewer = await invited(api, browser, 'viewer');
  const setRole = (id: string, role: string) => browser.send('PUT', `/v1/members/${id}`, { body: { role } });
  expect((await viewer.browser.send('PUT', '/v1/settings', { body: {} })).status).toBe(403);
  expect((await setRole(viewer.account._id, 'owner')).status).toBe(200);
  expect((await viewer.browser.send('PUT', '/v1/settings', { body: {} })).status).toBe(200);
  expect((await setRole(viewer.account._id, 'viewer')).status).toBe(200);
  expect(await setRole(account._id, 'viewer')).toMatchObject({ status: 409, body: { meta: { type: 'conflict' } } });
  expect((await browser.send('DELETE', `/v1/members/${account._id}`)).status).toBe(409);
  expect((await browser.send('DELETE', `/v1/members/${viewer.account._id}`)).status).toBe(200);
  expect((await viewer.browser.send('GET', '/v1/settings')).status).toBe(403);
  expect((await setRole(viewer.account._id, 'owner')).status).toBe(404);
});

// An owner who was removed, or made a viewer, came back as an owner by an invitation from before.
test('a change of a role and a removal end the open invitation of the address', async () => {
  const { browser } = await signedUp(api);
  const { browser: former, account, email } = await invited(api, browser, 'viewer');
  const path = `/v1/members/${account._id}`;
  const changes = [() => browser.send('PUT', path, { body: { role: 'viewer' } }), () => browser.send('DELETE', path)];
  for (const change of changes) {
    await post(browser, '/v1/invitations', { email, role: 'owner' });
    const other = newEmail();
    await post(browser, '/v1/invitations', { email: other, role: 'viewer' });
    expect((await change()).status).toBe(200);
    const { invitations } = (await browser.send('GET', '/v1/invitations')).body;
    expect(invitations.map((open: { email: string }) => open.email)).not.toContain(email);
    expect(invitations.map((open: { email: string }) => open.email)).toContain(other);
    const token = mailedToken(api, email);
    expect((await post(former, '/v1/invitations/accept', { token, password })).status).toBe(401);
  }
});

test('of two owners who demote each other at once, one stays', async () => {
  const first = await signedUp(api);
  const second = await invited(api, first.browser, 'owner');
  const demote = (by: Browser, id: string) => by.send('PUT', `/v1/members/${id}`, { body: { role: 'viewer' } });
  await Promise.all([demote(first.browser, second.account._id), demote(second.browser, first.account._id)]);
  const members = api.readModel.project(first.project._id)?.members ?? [];
  expect(members.filter(({ role }) => role === 'owner')).toHaveLength(1);
});

test('an invitation works once, for its address only, and not after it is withdrawn, replaced or expired', async () => {
  const { browser, project } = await signedUp(api);
  const invite = async (email: string) => {
    const { body } = await post(browser, '/v1/invitations', { email, role: 'viewer' });
    return { id: body.invitation._id as string, token: mailedToken(api, email) };
  };
  const accept = async (token: string) =>
    (await post(new Browser(api), '/v1/invitations/accept', { token, password })).status;
  const email = newEmail();
  const { token } = await invite(email);
  expect(JSON.stringify(api.readModel.project(project._id))).not.toContain(token);
  expect(api.mails.at(-1)?.text).toContain(`/account?project=${project._id}#invitation=${token}`);
  const answers = await Promise.all([accept(token), accept(token), accept(token)]);
  expect(answers.filter((status) => status === 200)).toHaveLength(1);
  expect(await accept(token)).toBe(401);

  const withdrawn = await invite(newEmail());
  expect((await browser.send('DELETE', `/v1/invitations/${withdrawn.id}`)).status).toBe(200);
  const twice = newEmail();
  const replaced = await invite(twice);
  const replacing = await invite(twice);
  for (const wrong of [withdrawn.token, replaced.token, `inv_${project._id}_${'0'.repeat(64)}`, 'inv', '']) {
    expect(await accept(wrong)).toBe(wrong === '' ? 400 : 401);
  }
  expect((await browser.send('GET', '/v1/invitations')).body.invitations).toMatchObject([
    { _id: replacing.id, email: twice, role: 'viewer' },
  ]);
  expect(await accept(replacing.token)).toBe(200);
});

test('an invitation is shown to the holder of its token, who can then still accept it', async () => {
  const { browser, project } = await signedUp(api);
  const preview = (token: string) => post(new Browser(api), '/v1/invitations/preview', { token });
  const email = newEmail();
  await post(browser, '/v1/invitations', { email, role: 'viewer' });
  const token = mailedToken(api, email);
  const shown = { project: project.name, email, role: 'viewer', expiresAt: expect.any(String) };
  for (let turn = 0; turn < 2; turn++) {
    expect((await preview(token)).body.invitation).toEqual({ ...shown, hasAccount: false });
  }
  expect((await post(new Browser(api), '/v1/invitations/accept', { token, password })).status).toBe(200);
  for (const wrong of [token, `inv_${project._id}_${'0'.repeat(64)}`, 'inv'])
    expect((await preview(wrong)).status).toBe(401);
});

test('an invitation for an existing account requires its password', async () => {
  const { browser } = await signedUp(api);
  const { email } = await signedUp(api);
  await post(browser, '/v1/invitations', { email, role: 'owner' });
  const token = mailedToken(api, email);
  const { body } = await post(new Browser(api), '/v1/invitations/preview', { token });
  expect(body.invitation).toMatchObject({ email, hasAccount: true });
  const accept = (guess: string) => post(new Browser(api), '/v1/invitations/accept', { token, password: guess });
  expect((await accept('a password of mine')).status).toBe(401);
  expect((await accept(password)).status).toBe(200);
});

test('a reset link sets a new password once and ends all sessions', async () => {
  const { browser, email } = await signedUp(api);
  expect((await post(new Browser(api), '/v1/password/reset', { email })).status).toBe(200);
  const token = mailedToken(api, email);
  const reset = (next: string) => post(new Browser(api), '/v1/password/reset/confirm', { token, password: next });
  // A password that breaks the rules costs no token.
  expect((await reset('short')).status).toBe(400);
  const answers = await Promise.all([reset('a new password 1'), reset('a new password 1')]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  expect((await reset('a new password 2')).status).toBe(401);
  expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  const signIn = (given: string) => post(new Browser(api), '/v1/signin', { email, password: given });
  expect([(await signIn(password)).status, (await signIn('a new password 1')).status]).toEqual([401, 200]);
});

test('a reset link is void after the password was changed in another way', async () => {
  const { browser, email } = await signedUp(api);
  await post(browser, '/v1/password/reset', { email });
  const token = mailedToken(api, email);
  const change = { current: password, password: 'a new password 1' };
  expect((await browser.send('PUT', '/v1/password', { body: change })).status).toBe(200);
  const late = await post(new Browser(api), '/v1/password/reset/confirm', { token, password: 'a new password 2' });
  expect(late.status).toBe(401);
});

test('a password change requires the current one, keeps this session and ends the others', async () => {
  const { browser, email } = await signedUp(api);
  const phone = new Browser(api);
  await post(phone, '/v1/signin', { email, password });
  const change = (current: string, next: string) =>
    browser.send('PUT', '/v1/password', { body: { current, password: next } });
  const refused = await change('a wrong password', 'a new password 1');
  expect([refused.status, refused.body.meta.message]).toEqual([401, 'current: is not the password of this account']);
  expect((await change(password, 'short')).status).toBe(400);
  const before = browser.cookie;
  expect((await change(password, 'a new password 1')).status).toBe(200);
  expect(browser.cookie).not.toBe(before);
  expect((await browser.send('GET', '/v1/session')).status).toBe(200);
  expect((await phone.send('GET', '/v1/session')).status).toBe(401);
});

test('a one-time link signs in as owner of its project, once, without an account', async () => {
  const { project } = await signedUp(api);
  const link = await api.call('POST', '/v1/signin/links', { key: adminApiKey, body: { project: project._id } });
  expect(link.body.url).toBe(`https://map.example.com/account#signin=${link.body.token}`);
  const open = async () => {
    const browser = new Browser(api);
    const { status } = await post(browser, '/v1/signin/link', { token: link.body.token });
    return { browser, status };
  };
  const opened = await Promise.all([open(), open(), open()]);
  expect(opened.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
  const { browser } = opened.find(({ status }) => status === 200)!;
  expect((await browser.send('GET', '/v1/session')).body.session).toMatchObject({
    account: null,
    projects: [{ _id: project._id, role: 'owner' }],
  });
  expect((await browser.send('PUT', '/v1/settings', { body: {} })).status).toBe(200);
  const change = { body: { current: password, password: 'a new password 1' } };
  expect((await browser.send('PUT', '/v1/password', change)).status).toBe(403);
  // It invites its own address, and thereby creates an account.
  expect((await invited(api, browser, 'owner')).session.projects).toMatchObject([{ _id: project._id, role: 'owner' }]);
  expect((await post(browser, '/v1/signout')).status).toBe(200);
});

test('a link without a project opens the oldest one, and only the admin API key creates links', async () => {
  const { browser, keyOf } = await signedUp(api);
  expect((await post(browser, '/v1/signin/links')).status).toBe(401);
  expect((await api.call('POST', '/v1/signin/links', { key: keyOf('live', 'secret') })).status).toBe(403);
  const { body } = await api.call('POST', '/v1/signin/links', { key: adminApiKey });
  const signedIn = await post(browser, '/v1/signin/link', { token: body.token });
  expect(signedIn.body.session.projects).toMatchObject([{ _id: api.project.record._id }]);
  const unknown = await api.call('POST', '/v1/signin/links', { key: adminApiKey, body: { project: '0'.repeat(24) } });
  expect(unknown.status).toBe(404);
});

test('a deleted account is gone from every record, and its address can sign up again without its rights', async () => {
  const { browser, email, account, project } = await signedUp(api);
  const second = await invited(api, browser, 'owner');
  const other = await signedUp(api);
  await post(other.browser, '/v1/invitations', { email, role: 'viewer' });
  const remove = (given: string) => browser.send('POST', '/v1/account/delete', { body: { password: given } });
  // The message doubted the address, which the caller had not sent.
  const refused = await remove('a wrong password');
  expect([refused.status, refused.body.meta.message]).toEqual([401, 'password: is not the password of this account']);
  expect((await remove(password)).status).toBe(200);
  expect(JSON.stringify([api.readModel.projects(), api.readModel.account(account._id) ?? null])).not.toContain(email);
  expect((await second.browser.send('GET', '/v1/members')).body.members).toHaveLength(1);
  expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  const again = await signedUp(api, email);
  expect(again.account._id).toBe(account._id);
  const { projects } = (await again.browser.send('GET', '/v1/session')).body.session;
  expect(projects.map(({ _id }: { _id: string }) => _id)).toEqual([again.project._id]);
  expect(project._id).not.toBe(again.project._id);
});

test('the only owner of a project with other members cannot be deleted', async () => {
  const { browser } = await signedUp(api);
  await invited(api, browser, 'viewer');
  expect((await browser.send('POST', '/v1/account/delete', { body: { password } })).status).toBe(409);
  expect((await browser.send('GET', '/v1/session')).status).toBe(200);
});
