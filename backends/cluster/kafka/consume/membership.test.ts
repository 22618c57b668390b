import { Kafka, logLevel } from 'kafkajs';
import { expect, test } from 'vitest';
import { Membership } from './membership.js';

// It resolved, and the release of a partition counted as committed. The next owner waited for the session's end.
test('a member that is not in the group commits nothing, and says so', async () => {
  const kafka = new Kafka({ brokers: ['none:1'], logLevel: logLevel.NOTHING });
  const membership = new Membership({
    kafka,
    admin: kafka.admin(),
    groupId: 'group',
    topic: 'topic',
    sessionTimeoutMs: 6_000,
    assignments: () => [],
    outageLimitMs: 1_000,
    isRefused: async () => false,
    onJoined: () => {},
    onFailure: () => {},
    onProblem: () => {},
  });
  await expect(membership.commit([{ partition: 1, nextOffset: 10 }])).rejects.toThrow('is not in group group');
});
