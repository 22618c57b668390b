/** Exit statuses of `fenceline repair positions` for a position that the operator names. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import { topics } from '../../pipeline/ports.js';
import { analyticsSinkGroup } from '../../pipeline/stages/analytics/sink.js';
import { UsageError } from '../command.js';
import { run } from './repair.js';

/** Makes a data folder whose log has two rejections. The sink has read as many as given. */
async function folderOf({ read }: { readonly read: number }): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'fenceline-repair-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { log, positions, close } = openEmbedded({ path: folder, partitions: 1 });
  await log.append(
    topics.rejections,
    [1, 2].map((byte) => ({ key: 'device', value: Buffer.from([byte]) })),
  );
  await positions.set(analyticsSinkGroup, topics.rejections, 0, { offset: read, mark: null });
  await close();
  return folder;
}

async function statusOf(data: string, options: object): Promise<unknown> {
  vi.spyOn(console, 'log').mockImplementation(() => {});
  onTestFinished(() => {
    vi.restoreAllMocks();
    process.exitCode = undefined;
  });
  await run({ data, partition: '0', offset: '1', ...options }, ['positions']);
  return process.exitCode ?? 0;
}

// A look at the move that it would make ended with 1, as if a position did not match.
test('regression: a named position that matches the log is shown with status 0, and moved with status 0', async () => {
  const data = await folderOf({ read: 2 });
  const named = { topic: topics.rejections };
  expect(await statusOf(data, named)).toBe(0);
  expect(await statusOf(data, { ...named, yes: true })).toBe(0);
});

test('the status is 1 while any position does not match the log, also after the move of another one', async () => {
  const data = await folderOf({ read: 9 });
  expect(await statusOf(data, { topic: topics.attempts, offset: '0', yes: true })).toBe(1);
  expect(await statusOf(data, { topic: topics.rejections })).toBe(1);
  process.exitCode = undefined;
  expect(await statusOf(data, { topic: topics.rejections, yes: true })).toBe(0);
});

// The position was moved there, and its partition halted.
test.each(['3', '9999'])('regression: the offset %s beyond the end of the log is refused', async (offset) => {
  const data = await folderOf({ read: 2 });
  const moving = statusOf(data, { topic: topics.rejections, offset, yes: true });
  await expect(moving).rejects.toThrow('--offset must be at most 2, the end of partition 0 of topic rejections');
  await expect(moving).rejects.toBeInstanceOf(UsageError);
});
