import { expect, test } from 'vitest';
import { until } from '../../../../testing/until.js';
import type { CommittedOffset } from './membership.js';
import { OffsetReporter } from './offset-reporter.js';
import { PartitionAssignment } from './partition-assignment.js';

function held(partition: number, offset: number): PartitionAssignment {
  const assignment = new PartitionAssignment(partition, `id-${partition}`);
  assignment.start();
  assignment.hold({ offset: offset, mark: null });
  return assignment;
}

/** Moves the assignment by an offset without a record. */
async function move(assignment: PartitionAssignment): Promise<void> {
  const next = (await assignment.nextFetch())!;
  const end = next.offset + 1;
  assignment.accept(next, { messages: [], nextOffset: end, endOffset: end });
}

/** A group whose commits end when the test says so. */
function heldCommits() {
  const sent: (readonly CommittedOffset[])[] = [];
  const ends: ((error?: Error) => void)[] = [];
  const commit = (progress: readonly CommittedOffset[]) =>
    new Promise<void>((resolve, reject) => {
      sent.push(progress);
      ends.push((error) => (error ? reject(error) : resolve()));
    });
  return { sent, commit, end: (error?: Error) => ends.shift()!(error) };
}

test('commits the offsets that have moved, and repeats a failed commit', async () => {
  const { sent, commit, end } = heldCommits();
  const reporter = new OffsetReporter(commit);
  const [one, two] = [held(1, 10), held(2, 20)];
  const assignments = new Set([one, two, new PartitionAssignment(3, 'waits')]);
  const commitMoved = async (error?: Error) => {
    const committed = reporter.progressOf(assignments);
    await new Promise(setImmediate);
    if (sent.length > 0) end(error);
    await committed;
    return sent.splice(0).flat();
  };
  const all = [
    { partition: 1, nextOffset: 10 },
    { partition: 2, nextOffset: 20 },
  ];
  expect(await commitMoved(new Error('rebalancing'))).toEqual(all);
  expect(await commitMoved()).toEqual(all);
  expect(await commitMoved()).toEqual([]);
  await move(two);
  expect(await commitMoved()).toEqual([{ partition: 2, nextOffset: 21 }]);
});

test('the final offset of an assignment is its last commit', async () => {
  const { sent, commit, end } = heldCommits();
  const reporter = new OffsetReporter(commit);
  const assignment = held(1, 10);
  const assignments = new Set([assignment]);
  void reporter.progressOf(assignments);
  await new Promise(setImmediate);
  void reporter.progressOf(assignments);
  assignment.lose();
  assignment.end();
  const ended = reporter.endOf(assignment, 60_000);
  end(new Error('no coordinator'));
  await new Promise(setImmediate);
  end();
  await ended;
  expect(sent.flat()).toEqual([
    { partition: 1, nextOffset: 10 },
    { partition: 1, nextOffset: 10, metadata: 'id-1' },
  ]);
});

// The first failure was the last attempt, and the next owner waited for the session's end.
test('the final offset is committed again until the group accepts it', async () => {
  const { sent, commit, end } = heldCommits();
  const assignment = held(1, 10);
  const ended = new OffsetReporter(commit).endOf(assignment, 60_000);
  for (const error of [new Error('not in the group'), new Error('rebalancing'), undefined]) {
    await until(() => sent.length > 0);
    expect(sent.splice(0)).toEqual([[{ partition: 1, nextOffset: 10, metadata: 'id-1' }]]);
    end(error);
  }
  await ended;
});

test('the final offset is given up after the limit', async () => {
  const commit = async () => {
    throw new Error('not in the group');
  };
  await new OffsetReporter(commit).endOf(held(1, 10), 100);
});
