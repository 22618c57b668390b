/** What the alerts of partitions count. */
import { expect, test } from 'vitest';
import { topics } from '../ports.js';
import { createClaimedPartitionAlerts, type PartitionAlert } from './partition-alerts.js';

// A Redis that fell back was counted as if processes had claimed all its partitions from each other.
test('regression: a store that fell back is reported, and not counted as a claim of another owner', () => {
  const counted: string[] = [];
  const reported: PartitionAlert['kind'][] = [];
  const alerts = createClaimedPartitionAlerts({
    topic: topics.locations,
    metrics: { add: (counter) => void counted.push(counter), observe() {} },
    onAlert: ({ kind }) => void reported.push(kind),
    fencedCounter: 'location_partitions_fenced_total',
  });
  alerts.lost(0, 'fallen_back', 5);
  expect(counted).toEqual([]);
  alerts.lost(1, 'claimed', 5);
  expect(counted).toEqual(['location_partitions_fenced_total']);
  expect(reported).toEqual(['fallen_back', 'fenced']);
});
