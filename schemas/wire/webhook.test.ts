import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { deriveId } from '../ids.js';
import { Attempt, Webhook, type WebhookRecord } from '../json/webhook.js';
import { type AttemptParts, attemptJson, webhookJson } from './webhook.js';

const [id, project, event] = [deriveId('webhook'), deriveId('project'), deriveId('event')];
const time = '2026-01-02T03:04:05.678Z';
const timeMs = Date.parse(time);

const secret = (name: string, expiresAt: number | null) => ({
  _id: deriveId('secret', name),
  sealed: 'sealed',
  hint: 'whsec_…abc=',
  createdAt: timeMs,
  expiresAt,
});
const record: WebhookRecord = {
  _id: id,
  project,
  environment: 'live',
  createdAt: timeMs,
  updatedAt: timeMs,
  url: 'https://example.com/',
  description: null,
  types: null,
  tags: null,
  delivery: 'single',
  enabled: true,
  disabled: null,
  secrets: [secret('newest', null), secret('before', timeMs)],
};
const attempt: AttemptParts = {
  id,
  attempt: 2,
  at: timeMs,
  duration_ms: 12.5,
  url: 'https://example.com/',
  result: 'refused',
  message: null,
  state: 'retrying',
  nextAttemptAt: timeMs,
  status: 500,
  responseHeaders: '{"a":"b"}',
  responseBody: Buffer.from([0x61, 0xff, 0xe2, 0x82]),
  delivery: { id: 'delivery', events: [event], reason: 'event', body: Buffer.from('{"a":"\u20ac"}') },
};

test('omits unset fields and encrypted secrets of a webhook', () => {
  const shown = { hint: 'whsec_…abc=', createdAt: time };
  const json = webhookJson(record);
  expect(Compile(Webhook).Check(json)).toBe(true);
  expect(json).toEqual({
    _id: id,
    live: true,
    createdAt: time,
    updatedAt: time,
    url: 'https://example.com/',
    delivery: 'single',
    enabled: true,
    secrets: [
      { _id: deriveId('secret', 'newest'), ...shown },
      { _id: deriveId('secret', 'before'), ...shown, expiresAt: time },
    ],
  });
});

test('shows all fields of a webhook, and only the new secret', () => {
  const disabled = { reason: 'failing', at: timeMs } as const;
  const set = { description: 'Ours', types: ['opened_app'], tags: ['store'] };
  const json = webhookJson(
    { ...record, ...set, enabled: false, disabled },
    { record: record.secrets[0]!, secret: 'whsec_YWJj' },
  );
  expect(Compile(Webhook).Check(json)).toBe(true);
  expect(json).toMatchObject({ ...set, enabled: false, disabled: { reason: 'failing', at: time } });
  expect(json.secrets.map((one) => one.secret)).toEqual(['whsec_YWJj', undefined]);
});

test('shows an attempt with its response, and replaces bytes that are not UTF-8', () => {
  const json = attemptJson(attempt);
  expect(Compile(Attempt).Check(json)).toBe(true);
  expect(json).toEqual({
    _id: id,
    delivery: 'delivery',
    events: [event],
    attempt: 2,
    reason: 'event',
    at: time,
    durationMs: 12.5,
    url: 'https://example.com/',
    result: 'refused',
    state: 'retrying',
    nextAttemptAt: time,
    request: { body: '{"a":"\u20ac"}' },
    response: { status: 500, headers: { a: 'b' }, body: 'a\ufffd\ufffd' },
  });
});

test('shows an attempt without a response', () => {
  const json = attemptJson({
    ...attempt,
    result: 'timed_out',
    message: 'nothing came',
    state: 'given_up',
    nextAttemptAt: null,
    status: null,
    responseHeaders: null,
    responseBody: null,
  });
  expect(Compile(Attempt).Check(json)).toBe(true);
  expect(json).toMatchObject({ result: 'timed_out', message: 'nothing came', state: 'given_up' });
  expect(json).not.toHaveProperty('nextAttemptAt');
  expect(json).not.toHaveProperty('response');
});
