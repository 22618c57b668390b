import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import { projectRecord, scope, scopes } from '../../catalog/testing/fixtures.js';
import { createMatcher, type Matchable, WebhookDirectory } from './matching.js';
import { webhookId, webhookRecord } from './testing/webhooks.js';

const type = fc.constantFrom('entered', 'exited', 'sale');
const tag = fc.constantFrom('shop', 'depot', 'home');
const chosen = <T>(from: fc.Arbitrary<T>) => fc.option(fc.array(from, { maxLength: 4 }), { nil: null });

const webhooks = fc
  .array(fc.record({ types: chosen(type), tags: chosen(tag), enabled: fc.boolean() }), { maxLength: 12 })
  .map((drawn) => drawn.map((fields, number) => webhookRecord({ _id: webhookId(number), ...fields })));
const event: fc.Arbitrary<Matchable> = fc.record({ type, tag: fc.option(tag, { nil: null }) });

const wants = ({ types, tags, enabled }: WebhookRecord, one: Matchable): boolean =>
  enabled &&
  (types === null || types.includes(one.type)) &&
  (tags === null || (one.tag !== null && tags.includes(one.tag)));

const ids = (found: readonly WebhookRecord[]) => found.map(({ _id }) => _id).sort();

test('the index finds the same webhooks as a naive filter, each once', () => {
  fc.assert(
    fc.property(webhooks, event, (list, one) => {
      expect(ids(createMatcher(list)?.(one) ?? [])).toEqual(ids(list.filter((webhook) => wants(webhook, one))));
    }),
  );
});

describe('the directory', () => {
  test('finds webhooks by id and by event, and rebuilds its index when the list changes', () => {
    let list: readonly WebhookRecord[] = [webhookRecord()];
    const directory = new WebhookDirectory({ webhooks: () => list, project: () => projectRecord() });
    const one = { type: 'entered', tag: null };
    expect(directory.webhook(scope, list[0]!._id)).toBe(list[0]);
    expect(directory.matcher(scope)?.(one)).toEqual(list);
    list = [webhookRecord({ tags: ['shop'] })];
    expect(directory.webhook(scope, list[0]!._id)).toBe(list[0]);
    expect(directory.matcher(scope)?.(one)).toEqual([]);
    list = [webhookRecord({ enabled: false })];
    expect(directory.matcher(scope)).toBeUndefined();
  });

  test('separates projects and environments', () => {
    const own = scopes.map((fields, number) => [webhookRecord({ _id: webhookId(number), ...fields })]);
    const directory = new WebhookDirectory({
      webhooks: (asked) => own[scopes.indexOf(asked)]!,
      project: (_id) => projectRecord({ _id }),
    });
    const all = scopes.map((asked) => directory.matcher(asked)?.({ type: 'entered', tag: null }));
    expect(all).toEqual(own);
  });
});
