/** Runs the commands of docs/accounts.md in their order, and checks their effects. On both backends. */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { until } from '../../testing/until.js';
import { type Json, ok } from '../support/client.js';
import { SharedServer } from '../support/shared-server.js';

const run = promisify(execFile);
const marker = '---';

let server: SharedServer;
let folder: string;
/** The output of each block of commands. */
let outputs: string[];
let project: string;

/** Other files use the same server, and a run may be repeated on it: addresses must be new. */
const unique = `${process.pid}-${Date.now().toString(36)}`;
const ada = `ada-${unique}@example.com`;
const grace = `grace-${unique}@example.com`;

beforeAll(async () => {
  server = await SharedServer.newProject();
  folder = await mkdtemp(join(tmpdir(), 'fenceline-accounts-'));
  await mkdir(server.outbox, { recursive: true });
  await mkdir(join(folder, 'data'));
  await symlink(server.outbox, join(folder, 'data/outbox'));
  const administrator = await server.administrator();
  project = ok(await administrator.post('/v1/projects', { name: 'Guide' })).project._id;
  const guide = await readFile(new URL('../../docs/accounts.md', import.meta.url), 'utf8');
  const blocks = [...guide.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block]) => block!);
  // The mails are written after the answers.
  const waitFor = (mail: string, email: string) =>
    `for _ in $(seq 600); do grep -ls "To: ${email}" data/outbox/*.eml | xargs -r grep -l '${mail}=' | grep -q . && break; sleep 0.1; done\n`;
  const commands = blocks
    .map((block) => {
      if (block.includes("'invitation=.*'")) return waitFor('invitation', ada) + block;
      return block.includes("'reset=.*'") ? waitFor('reset', grace) + block : block;
    })
    .join(`echo; echo ${marker}\n`)
    .replaceAll('ada@example.com', ada)
    .replaceAll('grace@example.com', grace);
  const environment = {
    PATH: process.env.PATH,
    HOME: folder,
    FENCELINE: server.address,
    PROJECT: project,
    ADMIN_API_KEY: server.adminApiKey,
  };
  // The guide shows what a refusal says. Here it ends the commands as well.
  await writeFile(join(folder, '.curlrc'), 'show-error\nfail-with-body\n');
  const { stdout } = await run('bash', ['--norc', '-exo', 'pipefail', '-c', commands], {
    cwd: folder,
    env: environment,
  });
  outputs = stdout.split(`${marker}\n`);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const cookiesOf = async (name: string): Promise<string> => {
  const text = await readFile(join(folder, `${name}.txt`), 'utf8');
  const [, cookie, value] = /\t(fenceline-session)\t([0-9a-f]{64})/.exec(text) ?? [];
  return `${cookie}=${value}`;
};
const sessionIn = (output: string): Json => {
  const line = output.split('\n').find((text) => text.includes('"session"')) ?? output;
  return JSON.parse(line.slice(line.lastIndexOf('{"meta"'))).session;
};

it('the link signs in as owner of the project, without an account', () => {
  expect(sessionIn(outputs[1]!)).toMatchObject({ account: null, projects: [{ _id: project, role: 'owner' }] });
});

it('the invited address becomes an owner with an account', async () => {
  const headers = { cookie: await cookiesOf('ada') };
  const { body } = await server.withKey(undefined).send('GET', '/v1/session', { headers });
  expect(body.session).toMatchObject({ account: { email: ada }, projects: [{ _id: project, role: 'owner' }] });
});

it('a sign-up has four keys that work, and the settings of its live environment were changed', async () => {
  const { account, project: own } = JSON.parse(await readFile(join(folder, 'signup.json'), 'utf8'));
  expect([account.email, own.name, own.keys.length]).toEqual([grace, 'Shop', 4]);
  for (const { environment, kind, key } of own.keys) {
    const { status, body } = await server.withKey(key).get('/v1/settings');
    expect(status).toBe(kind === 'secret' ? 200 : 403);
    if (kind === 'secret') expect(body.settings.minimumConfidence).toBe(environment === 'live' ? 2 : 1);
  }
});

it('after the last sign-out the cookie is invalid, and only the last password signs in', async () => {
  const anyone = server.withKey(undefined);
  await until(
    async () =>
      (await anyone.send('GET', '/v1/session', { headers: { cookie: await cookiesOf('ada') } })).status === 200,
  );
  const signIn = (password: string) => anyone.post('/v1/signin', { email: grace, password });
  expect((await signIn('correct horse battery')).status).toBe(401);
  const answer = await signIn('a third horse battery');
  expect(answer.status).toBe(200);
  const cookie = answer.headers.get('set-cookie')!.split(';')[0]!;
  const headers = { cookie, origin: server.address };
  expect((await anyone.send('POST', '/v1/signout', { body: { everywhere: true }, headers })).status).toBe(200);
  expect((await anyone.send('GET', '/v1/session', { headers })).status).toBe(401);
});

it('the operator has set the plan', async () => {
  const administrator = await server.administrator();
  expect(ok(await administrator.get(`/v1/projects/${project}`)).project.plan).toBe('enterprise');
});
