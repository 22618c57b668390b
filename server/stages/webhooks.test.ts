/** Webhooks are disabled for what they did themselves, not for what their former version did. */
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { projectRecord, TestNode } from '../../pipeline/stages/testing/node.js';
import { webhookRecord } from '../../pipeline/stages/webhooks/testing/webhooks.js';
import { disableWebhook } from './webhooks.js';

const sent = webhookRecord({ url: 'http://a/' });
const noon = Date.UTC(2026, 0, 1, 12);
let node: TestNode;

beforeEach(async () => {
  node = await TestNode.open();
  onTestFinished(() => node.dispose());
  await node.configure({ kind: 'project', record: projectRecord() }, { kind: 'webhook', record: sent });
});

const stored = () => node.readModel.webhook(sent, sent._id);

test('a webhook that is gone is disabled once', async () => {
  const disable = disableWebhook(node.embedded.log, node.readModel);
  expect(await disable(sent, 'gone', noon)).toBe(true);
  await expect.poll(stored).toMatchObject({ enabled: false, disabled: { reason: 'gone', at: noon }, updatedAt: noon });
  expect(await disable(sent, 'gone', noon + 1)).toBe(false);
});

// The alert and the metric named a webhook that was on.
test('regression: an owner who changes the webhook at the same moment wins, which is no disabling', async () => {
  const { log } = node.embedded;
  const changed = { ...sent, url: 'http://b/', updatedAt: sent.updatedAt + 1 };
  const racing = {
    end: log.end,
    async append(...records: Parameters<typeof log.append>) {
      await node.configure({ kind: 'webhook', record: changed });
      await log.append(...records);
    },
  };
  expect(await disableWebhook(racing, node.readModel)(sent, 'gone', noon)).toBe(false);
  expect(stored()).toEqual(changed);
});

// An owner replaced the URL while a request to the former one was in flight. The former one then answered 410, or
// failed on its fifth day, and the new one was disabled.
test.each(['gone', 'failing'] as const)(
  'regression: a late verdict %s does not disable a changed webhook',
  async (as) => {
    const changed = { ...sent, url: 'http://b/', updatedAt: sent.updatedAt + 1 };
    await node.configure({ kind: 'webhook', record: changed });
    expect(await disableWebhook(node.embedded.log, node.readModel)(sent, as, noon)).toBe(false);
    expect(stored()).toEqual(changed);
  },
);
