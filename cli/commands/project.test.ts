import { expect, test } from 'vitest';
import { UsageError } from '../command.js';
import { run } from './project.js';

test.each([[[]], [['create']], [['remove', 'x']], [['list', 'extra']], [['create', 'My', 'shop']]])(
  'the words %j are refused with the forms, even without a key',
  async (words) => {
    await expect(run({ data: '/nonexistent' }, words)).rejects.toThrow(
      new UsageError('project requires create NAME, list, or rotate-key ID'),
    );
  },
);
