/** The rules that protect accounts and sessions, each with the attack that it prevents. */
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { PortError } from '../../pipeline/errors.js';
import { minuteMs } from '../../schemas/durations.js';
import { adminApiKey, sessionAbsoluteMs, sessionIdleMs, useApi } from '../testing/fixtures.js';
import { withRole } from './accounts.js';
import { Browser, invited, mailedToken, newEmail, password, signedUp } from './testing/browser.js';

const time = { nowMs: Date.UTC(2026, 0, 1) };
const api = await useApi({ clock: () => time.nowMs });
const post = (browser: Browser, url: string, body: object = {}) => browser.send('POST', url, { body });

/** Returns an answer without the parts that differ between any two requests. */
function comparable({ status, body, headers }: Awaited<ReturnType<Browser['send']>>) {
  const { 'x-radar-request-id': _, date: __, ...others } = headers;
  return { status, body: { ...body, meta: { ...body.meta, requestId: undefined } }, others };
}

describe('the session cookie', () => {
  test('is out of reach of scripts and of other sites', async () => {
    const { browser, email } = await signedUp(api);
    const { cookie } = await post(browser, '/v1/signin', { email, password });
    expect(cookie).toMatch(/^fenceline-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+$/);
  });

  test('over TLS is Secure, belongs to this host only, and one without TLS does not count', async () => {
    const { email } = await signedUp(api);
    const tls = new Browser(api, { 'x-forwarded-proto': 'https' });
    const { cookie } = await post(tls, '/v1/signin', { email, password });
    expect(cookie).toMatch(/^__Host-fenceline-session=[0-9a-f]{64}; Path=\/; .*; Secure$/);
    expect(cookie).not.toContain('Domain');
    expect((await tls.send('GET', '/v1/session')).status).toBe(200);
    tls.cookie = tls.cookie.replace('__Host-', '');
    expect((await tls.send('GET', '/v1/session')).status).toBe(401);
  });

  test('counts only once in a request: another host could have planted the second one', async () => {
    const { browser } = await signedUp(api);
    browser.cookie = `${browser.cookie}; fenceline-session=${'0'.repeat(64)}`;
    expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  });

  test('is not kept by caches', async () => {
    const { browser, email } = await signedUp(api);
    for (const { headers } of [
      await post(browser, '/v1/signin', { email, password }),
      await browser.send('GET', '/v1/session'),
    ]) {
      expect(headers['cache-control']).toBe('no-store');
    }
  });
});

describe('session fixation: a sign-in', () => {
  test('never takes over the token that the browser sent', async () => {
    const { email } = await signedUp(api);
    const browser = new Browser(api);
    const planted = `fenceline-session=${'a'.repeat(64)}`;
    browser.cookie = planted;
    await post(browser, '/v1/signin', { email, password });
    expect(browser.cookie).not.toBe(planted);
    const attacker = new Browser(api);
    attacker.cookie = planted;
    expect((await attacker.send('GET', '/v1/session')).status).toBe(401);
  });

  test('ends the session that the browser had', async () => {
    const { browser, email } = await signedUp(api);
    const before = browser.cookie;
    await post(browser, '/v1/signin', { email, password });
    const old = new Browser(api);
    old.cookie = before;
    expect((await old.send('GET', '/v1/session')).status).toBe(401);
  });
});

describe('cross-site requests', () => {
  const foreign: [name: string, headers: Record<string, string>][] = [
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another host of the same site', { 'sec-fetch-site': 'same-site' }],
    ['another origin, without Sec-Fetch-Site', { 'sec-fetch-site': '', origin: 'https://evil.example' }],
    ['no origin: a sandboxed page', { 'sec-fetch-site': '', origin: 'null' }],
    ['another port of this host', { 'sec-fetch-site': '', origin: 'http://localhost:81' }],
    ['this host without TLS', { 'sec-fetch-site': '', origin: 'http://localhost:80', 'x-forwarded-proto': 'https' }],
  ];
  const withoutEmpty = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== ''));

  test.each(foreign)('from %s neither change nor read with a session', async (_, headers) => {
    const { browser } = await signedUp(api);
    const cookie = headers['x-forwarded-proto'] ? browser.cookie.replace('fenc', '__Host-fenc') : browser.cookie;
    for (const [method, url] of [
      ['PUT', '/v1/settings'],
      ['POST', '/v1/signout'],
      ['GET', '/v1/settings'],
    ] as const) {
      const answer = await api.app.inject({ method, url, headers: { ...withoutEmpty(headers), cookie } });
      expect([url, answer.statusCode, answer.json().meta.type]).toEqual([url, 403, 'forbidden']);
    }
    expect((await browser.send('GET', '/v1/session')).status).toBe(200);
  });

  test.each(foreign)('from %s sign nobody in', async (_, headers) => {
    const { email } = await signedUp(api);
    const link = (await api.call('POST', '/v1/signin/links', { key: adminApiKey })).body.token;
    for (const [url, payload] of [
      ['/v1/signin', { email, password }],
      ['/v1/signin/link', { token: link }],
      ['/v1/signup', { email: newEmail(), password }],
    ] as const) {
      const answer = await api.app.inject({ method: 'POST', url, headers: withoutEmpty(headers), payload });
      expect([url, answer.statusCode]).toEqual([url, 403]);
      expect(answer.headers['set-cookie']).toBeUndefined();
    }
    expect((await post(new Browser(api), '/v1/signin/link', { token: link })).status).toBe(200);
  });

  test('that do not say where they come from change nothing with a session', async () => {
    const { browser } = await signedUp(api);
    const { cookie } = browser;
    const change = (headers: object) =>
      api.app.inject({ method: 'PUT', url: '/v1/settings', headers: { cookie, ...headers } });
    expect((await change({})).statusCode).toBe(403);
    expect((await change({ origin: 'http://localhost:80', host: 'localhost:80' })).statusCode).toBe(200);
    expect((await change({ 'sec-fetch-site': 'same-origin' })).statusCode).toBe(200);
  });

  test('get no permission from the server to read answers with cookies', async () => {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'GET' };
    for (const url of ['/v1/session', '/v1/settings', '/v1/signin']) {
      const preflight = await api.app.inject({ method: 'OPTIONS', url, headers });
      expect(preflight.headers['access-control-allow-origin']).toBeUndefined();
    }
    const open = await api.app.inject({ method: 'OPTIONS', url: '/v1/track', headers });
    expect(open.headers['access-control-allow-credentials']).toBeUndefined();
  });
});

describe('a session ends', () => {
  test('after its idle time, counted from the last request', async () => {
    const { browser } = await signedUp(api);
    for (let use = 0; use < 3; use++) {
      time.nowMs += sessionIdleMs - 1;
      expect((await browser.send('GET', '/v1/session')).status).toBe(200);
    }
    time.nowMs += sessionIdleMs;
    expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  });

  test('not because the disk is full when it is due to be renewed', async () => {
    const { browser } = await signedUp(api);
    time.nowMs += sessionIdleMs / 2;
    const full = vi.spyOn(api.values, 'put').mockRejectedValue(new PortError('storage_full', 'the disk is full'));
    onTestFinished(() => full.mockRestore());
    expect((await browser.send('GET', '/v1/settings')).status).toBe(200);
    expect(full).toHaveBeenCalled();
  });

  test('after its absolute time, however much it is used', async () => {
    const { browser } = await signedUp(api);
    const endMs = time.nowMs + sessionAbsoluteMs;
    while (time.nowMs + sessionIdleMs / 2 < endMs) {
      time.nowMs += sessionIdleMs / 2;
      expect((await browser.send('GET', '/v1/session')).status).toBe(200);
    }
    time.nowMs = endMs;
    expect((await browser.send('GET', '/v1/session')).status).toBe(401);
  });

  test('at once when it is signed out while another request renews it', async () => {
    const { browser } = await signedUp(api);
    time.nowMs += sessionIdleMs / 2;
    const { cookie } = browser;
    const [, ...rest] = await Promise.all([
      post(browser, '/v1/signout'),
      ...Array.from({ length: 5 }, () => api.app.inject({ url: '/v1/session', headers: { cookie } })),
    ]);
    expect(rest).toHaveLength(5);
    expect((await api.app.inject({ url: '/v1/session', headers: { cookie } })).statusCode).toBe(401);
  });

  test('with the role: a viewer who was an owner only reads', async () => {
    const owner = await signedUp(api);
    const second = await invited(api, owner.browser, 'owner');
    const demotion = { body: { role: 'viewer' } };
    expect((await owner.browser.send('PUT', `/v1/members/${second.account._id}`, demotion)).status).toBe(200);
    expect((await second.browser.send('PUT', '/v1/settings', { body: {} })).status).toBe(403);
    expect((await second.browser.send('GET', '/v1/settings')).status).toBe(200);
  });
});

describe('what is stored', () => {
  test('has neither passwords nor tokens in plain text', async () => {
    const { browser, email, account } = await signedUp(api);
    await post(browser, '/v1/password/reset', { email });
    const reset = mailedToken(api, email);
    const guest = newEmail();
    await post(browser, '/v1/invitations', { email: guest, role: 'viewer' });
    const stored = JSON.stringify([
      api.storedValues,
      api.storedAnswers,
      api.readModel.projects(),
      api.readModel.account(account._id),
    ]);
    for (const secret of [password, browser.cookie.split('=')[1]!, reset, mailedToken(api, guest)]) {
      expect(stored).not.toContain(secret);
    }
    expect(api.readModel.account(account._id)?.passwordHash).toMatch(/^\$scrypt\$ln=4,r=8,p=1\$/);
  });
});

describe('whether an address has an account is not told', () => {
  test('by a sign-in', async () => {
    const { email } = await signedUp(api);
    const [known, unknown] = [
      await post(new Browser(api), '/v1/signin', { email, password: 'a wrong password' }),
      await post(new Browser(api), '/v1/signin', { email: newEmail(), password: 'a wrong password' }),
    ];
    expect(known.status).toBe(401);
    expect(comparable(known)).toEqual(comparable(unknown));
  });

  test('by a password reset, which stores a token either way', async () => {
    const { email } = await signedUp(api);
    async function reset(address: string) {
      const stored = api.storedValues.length;
      const answer = await post(new Browser(api), '/v1/password/reset', { email: address });
      const puts = api.storedValues.slice(stored).map((value) => Object.keys(JSON.parse(value)));
      return { answer: comparable(answer), puts };
    }
    const [known, unknown] = [await reset(email), await reset(newEmail())];
    expect(known.answer.status).toBe(200);
    expect(known).toEqual(unknown);
  });

  test('by the limits of attempts', async () => {
    const { email } = await signedUp(api);
    async function attempts(address: string) {
      const answers = [];
      for (let attempt = 0; attempt <= 20; attempt++)
        answers.push(comparable(await post(new Browser(api), '/v1/signin', { email: address, password: 'wrong' })));
      return answers;
    }
    expect(await attempts(email)).toEqual(await attempts(newEmail()));
  });
});

describe('attempts are limited', () => {
  test('per address over all clients, with a time to retry, after which the right password works', async () => {
    const { email } = await signedUp(api);
    time.nowMs = Math.ceil(time.nowMs / (15 * minuteMs)) * 15 * minuteMs + 5 * minuteMs;
    const signIn = (given: string) => post(new Browser(api), '/v1/signin', { email, password: given });
    for (let attempt = 0; attempt < 20; attempt++) expect((await signIn('a wrong password')).status).toBe(401);
    // Not even the right password is accepted. Otherwise guesses could continue, and only success would show.
    const refused = await signIn(password);
    expect(refused).toMatchObject({ status: 429, body: { meta: { type: 'too_many_attempts' } } });
    expect(refused.headers['retry-after']).toBe(`${10 * 60}`);
    time.nowMs += 10 * minuteMs;
    expect((await signIn(password)).status).toBe(200);
  });

  test('per client over all addresses; a refused client uses up the attempts of no address', async () => {
    const { email } = await signedUp(api);
    const attacker = new Browser(api, { 'x-forwarded-for': '203.0.113.7' });
    const guess = (address: string) => post(attacker, '/v1/signin', { email: address, password: 'a wrong password' });
    for (let attempt = 0; attempt < 100; attempt++) expect((await guess(newEmail())).status).toBe(401);
    for (let attempt = 0; attempt < 30; attempt++) expect((await guess(email)).status).toBe(429);
    expect((await post(new Browser(api), '/v1/signin', { email, password })).status).toBe(200);
  });

  test('per /64 of IPv6: one client has as many addresses as it likes', async () => {
    const guess = (host: number) =>
      post(new Browser(api, { 'x-forwarded-for': `2001:db8:1:2::${host.toString(16)}` }), '/v1/signup', {
        email: newEmail(),
        password: 'short',
      });
    const statuses = [];
    for (let host = 1; host <= 21; host++) statuses.push((await guess(host)).status);
    expect(statuses).toEqual([...Array<number>(20).fill(400), 429]);
  });

  test('per recipient of mails', async () => {
    const email = newEmail();
    const statuses = [];
    for (let mail = 0; mail <= 5; mail++)
      statuses.push((await post(new Browser(api), '/v1/password/reset', { email })).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('for the current password of a session, too', async () => {
    const { browser } = await signedUp(api);
    const guess = () =>
      browser.send('PUT', '/v1/password', { body: { current: 'a wrong password', password: 'a new password 1' } });
    for (let attempt = 0; attempt < 20; attempt++) expect((await guess()).status).toBe(401);
    expect((await guess()).status).toBe(429);
  });
});

describe('invitations', () => {
  test('expire', async () => {
    const { browser } = await signedUp(api);
    const email = newEmail();
    await post(browser, '/v1/invitations', { email, role: 'viewer' });
    const token = mailedToken(api, email);
    time.nowMs += 7 * 24 * 60 * minuteMs;
    const answer = await post(new Browser(api), '/v1/invitations/accept', { token, password });
    expect(answer.status).toBe(401);
    expect(api.readModel.projects().flatMap(({ members = [] }) => members)).not.toContainEqual(
      expect.objectContaining({ role: 'viewer', createdAt: time.nowMs }),
    );
  });

  test('put the name of the project on one line of the mail', async () => {
    const browser = new Browser(api);
    const body = { email: newEmail(), password, project: 'Shop\r\nBcc: eve@example.com\u2028x' };
    expect((await post(browser, '/v1/signup', body)).status).toBe(200);
    const email = newEmail();
    await post(browser, '/v1/invitations', { email, role: 'viewer' });
    const mail = api.mails.findLast(({ to }) => to === email);
    expect(mail?.subject).toBe('Invitation to the Fenceline project Shop Bcc: eve@example.com x');
    expect(mail?.text).toContain('the project "Shop Bcc: eve@example.com x" as viewer.');
  });
});

test('links in mails never come from the Host of a request', async () => {
  const { email } = await signedUp(api);
  const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example' };
  const browser = new Browser(api, { ...headers });
  expect((await browser.send('POST', '/v1/password/reset', { body: { email } })).status).toBe(200);
  expect(api.mails.at(-1)?.text).toContain('https://map.example.com/account#reset=');
  expect(api.mails.at(-1)?.text).not.toContain('evil.example');
});

test('strangers do not share an Idempotency-Key', async () => {
  const headers = { 'idempotency-key': 'one' };
  const body = { email: newEmail(), password };
  expect((await new Browser(api).send('POST', '/v1/signup', { body, headers })).status).toBe(200);
  const again = await new Browser(api).send('POST', '/v1/signup', { body, headers });
  expect(again.status).toBe(409);
  expect(JSON.stringify(again.body)).not.toContain('_sk_');
});

describe('an owner who was demoted at another node made himself owner again at a node that did not know it', () => {
  test.each(['viewer', null] as const)('an edit that a former owner, now %s, sends is refused', async (role) => {
    const { browser: owner, project } = await signedUp(api);
    const { browser: former, email } = await invited(api, owner, 'owner');
    const { members } = (await owner.send('GET', '/v1/members')).body;
    const { _id } = members.find((member: { email: string }) => member.email === email);
    const path = `/v1/members/${_id}`;
    const { catchUp } = api.writer;
    onTestFinished(() => {
      api.writer.catchUp = catchUp;
    });
    // The edit of the other node arrives when this one has checked the session and catches up.
    api.writer.catchUp = async () => {
      await catchUp();
      api.writer.catchUp = catchUp;
      const id = project._id;
      const record = withRole(api.readModel.project(id)!, _id, role, api.writer.nextTimestamp());
      await api.writer.write([{ kind: 'project', id, record, bases: api.readModel.bases('project', id) }]);
    };
    const answer = await former.send('POST', '/v1/invitations', { body: { email: newEmail(), role: 'owner' } });
    expect(answer.status).toBe(403);
    expect((await former.send('PUT', path, { body: { role: 'owner' } })).status).toBe(403);
    expect((await owner.send('GET', '/v1/invitations')).body.invitations).toEqual([]);
  });
});
