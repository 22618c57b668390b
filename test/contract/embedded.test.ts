import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel } from 'node:worker_threads';
import { openChdbAnalytics } from '../../backends/embedded/analytics.js';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { createInbox, createReplies } from '../../backends/embedded/replies.js';
import type { Replies } from '../../pipeline/ports.js';
import { type AnalyticsSite, describeAnalyticsContract } from './analytics.contract.js';
import type { BackendSite } from './backend.js';
import { describeDeliveryQueueContract } from './delivery-queue.contract.js';
import { describeExpiringValuesContract } from './expiring-values.contract.js';
import { describeLogContract } from './log.contract.js';
import { describePositionsContract } from './positions.contract.js';
import { describeRepliesContract, type RepliesSite } from './replies.contract.js';
import { describeStateStoreContract } from './state-store.contract.js';

const freshFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'fenceline-contract-'));

async function embeddedSite(): Promise<BackendSite> {
  const path = await freshFolder();
  return {
    open: async () => openEmbedded({ path, partitions: 4 }),
    remove: () => rm(path, { recursive: true }),
  };
}

async function analyticsSite(): Promise<AnalyticsSite> {
  const path = await freshFolder();
  return {
    open: () => openChdbAnalytics({ path }),
    remove: () => rm(path, { recursive: true }),
  };
}

/** A channel joins one stage with one inbox; the sender to two of them sends to both, as a broadcast would. */
async function repliesSite(): Promise<RepliesSite> {
  const channels = [new MessageChannel(), new MessageChannel()] as const;
  const senders = channels.map(({ port1 }) => createReplies(port1));
  const replies: Replies = { send: (replyTo, body) => senders.forEach((sender) => void sender.send(replyTo, body)) };
  return {
    replies,
    inboxes: [createInbox(channels[0].port2), createInbox(channels[1].port2)],
    close: async () => channels.forEach(({ port1 }) => void port1.close()),
  };
}

describeLogContract('embedded', embeddedSite);
describeStateStoreContract('embedded', embeddedSite);
describePositionsContract('embedded', embeddedSite);
describeDeliveryQueueContract('embedded', embeddedSite);
describeExpiringValuesContract('embedded', async () => {
  const path = await freshFolder();
  return {
    open: async () => openEmbedded({ path, partitions: 4 }),
    remove: () => rm(path, { recursive: true }),
  };
});
describeExpiringValuesContract('embedded answers', async () => {
  const path = await freshFolder();
  return {
    async open() {
      const { answers, close } = openEmbedded({ path, partitions: 4 });
      return { values: answers, close };
    },
    remove: () => rm(path, { recursive: true }),
  };
});
describeRepliesContract('embedded', repliesSite);
describeAnalyticsContract('embedded', analyticsSite);
