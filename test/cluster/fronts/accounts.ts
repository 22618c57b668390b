/** Accounts and sessions at two nodes at once: one address has one account, and a session is open or ended at both. */
import { expect, it } from 'vitest';
import { type Answer, type Client, type Json, ok } from '../../support/client.js';
import { administratorAt, at, type Front, maxSignInAttempts } from './nodes.js';

const trials = 5;
const password = 'correct horse battery';

const anyoneAt = (name: Front): Client => at(name, undefined);
const administrator = (): Client => administratorAt('left');
const both = <T>(make: (client: Client) => Promise<T>): Promise<T[]> =>
  Promise.all([make(anyoneAt('left')), make(anyoneAt('right'))]);
const statuses = (answers: readonly Answer[]): number[] => answers.map(({ status }) => status).sort();
const cookieOf = (answer: Answer): string => answer.headers.get('set-cookie')!.split(';')[0]!;

/** Sends a request with a session, as a page of the node does. */
const withSession = (name: Front, method: string, path: string, cookie: string, body?: object): Promise<Answer> =>
  anyoneAt(name).send(method, path, { body, headers: { cookie, 'sec-fetch-site': 'same-origin' } });

it('of two sign-ups of one address one succeeds, and the other leaves no project', async () => {
  const before = ok(await administrator().get('/v1/projects')).projects.length;
  for (let trial = 0; trial < trials; trial++) {
    const answers = await both((client) =>
      client.post('/v1/signup', { email: `twice-${trial}@example.com`, password }),
    );
    expect(statuses(answers)).toEqual([200, 409]);
    const { project } = answers.find(({ status }) => status === 200)!.body;
    const secret = project.keys.find((key: Json) => key.environment === 'test' && key.kind === 'secret').key;
    for (const name of ['left', 'right'] as const) {
      const client = at(name, secret);
      expect((await client.get('/v1/settings')).status).toBe(200);
    }
  }
  // A refused sign-up removes its project before the answer, on the node that received it.
  ok(await administrator().post('/v1/projects', { name: 'last' }));
  const { projects } = ok(await administrator().get('/v1/projects'));
  expect(projects).toHaveLength(before + trials + 1);
});

it('a session is open at both nodes at once, and ends at both at once', async () => {
  const answer = await anyoneAt('left').post('/v1/signup', { email: 'ada@example.com', password });
  const cookie = cookieOf(answer);
  expect((await withSession('right', 'PUT', '/v1/settings', cookie, { minimumConfidence: 2 })).status).toBe(200);
  expect((await withSession('right', 'POST', '/v1/signout', cookie, {})).status).toBe(200);
  for (const name of ['left', 'right'] as const) {
    expect((await withSession(name, 'GET', '/v1/session', cookie)).status).toBe(401);
  }
});

it('a one-time link is used once', async () => {
  const { token } = ok(await administrator().post('/v1/signin/links', {}));
  const answers = await both((client) => client.post('/v1/signin/link', { token }));
  expect(statuses(answers)).toEqual([200, 401]);
});

it('attempts at both nodes count together', async () => {
  const windowNow = (): number => Math.floor(Date.now() / (15 * 60_000));
  for (let address = 0; ; address++) {
    const window = windowNow();
    const found: number[] = [];
    for (let attempt = 0; attempt < maxSignInAttempts; attempt++) {
      const guess = { email: `eve-${address}@example.com`, password };
      found.push(...statuses(await both((client) => client.post('/v1/signin', guess))));
    }
    // The count starts again every quarter of an hour.
    if (windowNow() !== window) continue;
    expect(found.filter((status) => status === 401)).toHaveLength(maxSignInAttempts);
    expect(found.filter((status) => status === 429)).toHaveLength(maxSignInAttempts);
    return;
  }
});
