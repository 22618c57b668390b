/** Runs the receivers of docs/webhooks.md against requests that are signed as the webhook stage signs them. */
import { execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readWebhook } from '../../api/webhooks/fields.js';
import { createSigner, type Headers } from '../../pipeline/stages/webhooks/signing.js';
import {
  secretCipher,
  secretRecord,
  secretText,
  webhookId,
  webhookRecord,
} from '../../pipeline/stages/webhooks/testing/webhooks.js';
import type { WebhookSecretRecord } from '../../schemas/json/webhook.js';
import type { Delivery } from '../../schemas/records.js';
import { cutOffRequest } from '../../testing/cut-off-request.js';
import { until } from '../../testing/until.js';

const guide = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const blocks = (language: string): string[] =>
  [...guide.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g'))].map(([, text]) => text as string);
const [receiver, verifier] = blocks('js') as [string, string];
const [python] = blocks('python') as [string];

const id = webhookId(1);
const body = '{"event":{"type":"user.entered_geofence","geofence":{"externalId":"caf\u00e9"}},"user":{}}';
const delivery: Delivery = {
  id: 'delivery',
  webhook: id,
  project: id,
  environment: 'test',
  orderKey: 'device',
  events: [id],
  body: Buffer.from(body),
  reason: 'event',
  createdAt: 1,
};

/** The receivers know secret 1. */
const knownSecret = secretText(1);
function signed(secrets: WebhookSecretRecord[], ageMs = 0): Headers {
  return createSigner(secretCipher)(webhookRecord({ _id: id, secrets }), delivery, Date.now() - ageMs)!;
}
const genuine = signed([secretRecord(id, 1)]);
const rotated = signed([secretRecord(id, 2), secretRecord(id, 1, { expiresAt: Date.now() + 60_000 })]);

interface Case {
  readonly name: string;
  readonly headers: Headers;
  readonly body: string;
  readonly isGenuine: boolean;
}
const cases: Case[] = [
  { name: 'genuine', headers: genuine, body, isGenuine: true },
  { name: 'signed by the secret and by the one that replaces it', headers: rotated, body, isGenuine: true },
  { name: 'another body', headers: genuine, body: body.replace('entered', 'exited'), isGenuine: false },
  { name: 'another id', headers: { ...genuine, 'webhook-id': 'other' }, body, isGenuine: false },
  { name: 'another secret', headers: signed([secretRecord(id, 2)]), body, isGenuine: false },
  { name: 'an old one', headers: signed([secretRecord(id, 1)], 6 * 60_000), body, isGenuine: false },
  {
    name: 'no signature that can be read',
    headers: { ...genuine, 'webhook-signature': 'v1, x v1' },
    body,
    isGenuine: false,
  },
  { name: 'unsigned', headers: {}, body, isGenuine: false },
];
const expected = cases.map(({ name, isGenuine }) => [name, isGenuine]);

const environment = { ...process.env, WEBHOOK_SECRET: knownSecret, CASES: JSON.stringify(cases) };
/** Packages are found from here. */
const cwd = fileURLToPath(new URL('../..', import.meta.url));

const named = (answers: readonly boolean[]) => answers.map((isGenuine, index) => [cases[index]?.name, isGenuine]);
const answersOf = (program: string, options: string[]): boolean[] =>
  JSON.parse(execFileSync(program, options, { cwd, env: environment, encoding: 'utf8' }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

describe('the guide to webhooks', () => {
  it('has the three examples that this test runs', () => {
    expect([blocks('js').length, blocks('python').length]).toEqual([2, 1]);
  });

  it('shows a creation that the API accepts', () => {
    const [, fields] = /-d '(.*)'/.exec(guide) ?? [];
    const nowhere = { has: () => false };
    expect(readWebhook(undefined, JSON.parse(fields ?? ''), nowhere)).toMatchObject({
      ok: true,
      value: { tags: ['store'] },
    });
  });

  it('shows a receiver that accepts genuine requests and nothing else', async () => {
    const port = await freePort();
    const env = { ...environment, PORT: `${port}` };
    const program = spawn(process.execPath, ['--input-type=module', '--eval', receiver], { cwd, env, stdio: 'ignore' });
    onTestFinished(() => void program.kill());
    const send = ({ headers, body }: Pick<Case, 'headers' | 'body'>) =>
      fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers, body });
    await until(() => send({ headers: {}, body: '' }).catch(() => undefined));
    // The receiver ended when a sender broke off.
    await cutOffRequest(port);
    const statuses = await Promise.all(cases.map(async (one) => (await send(one)).status));
    expect(named(statuses.map((status) => status === 204))).toEqual(expected);
    expect(statuses.filter((status) => status !== 204).every((status) => status === 401)).toBe(true);
  });

  it('shows how to verify without a package', () => {
    const run = `const cases = JSON.parse(process.env.CASES);
console.log(JSON.stringify(cases.map(({ headers, body }) => isGenuine(headers, Buffer.from(body)))));`;
    expect(named(answersOf(process.execPath, ['--input-type=module', '--eval', `${verifier}\n${run}`]))).toEqual(
      expected,
    );
  });

  it('shows how to verify in Python', () => {
    const run = `
import json
print(json.dumps([is_genuine(one["headers"], one["body"].encode()) for one in json.loads(os.environ["CASES"])]))`;
    expect(named(answersOf('python3', ['-c', `${python}${run}`]))).toEqual(expected);
  });
});
