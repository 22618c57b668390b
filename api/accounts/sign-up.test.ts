/** A sign-up is all or nothing, also if the process ends in the middle. */
import { expect, test } from 'vitest';
import type { ConfigurationWriter } from '../../pipeline/catalog/types.js';
import { useApi } from '../testing/fixtures.js';
import { createAccountAndProject } from './sign-up.js';
import { newEmail } from './testing/browser.js';

const api = await useApi();
const pendingOf = (email: string) => ({ email, passwordHash: 'hash', project: 'Mine' });
const projectsOf = (account: string) =>
  api.readModel.projects().filter(({ members }) => members?.some((member) => member.account === account));

/** Simulates a process that ends after it has appended this many changes of an edit. */
function endingAfter(changes: number): ConfigurationWriter {
  return {
    ...api.writer,
    async write(all) {
      if (changes > 0) await api.writer.write(all.slice(0, changes));
      throw new Error('the process has ended');
    },
  };
}

test.each([0, 1])('a repetition completes a sign-up that ended after %i of its two changes', async (changes) => {
  const email = newEmail();
  const before = api.readModel.projects().length;
  const ended = createAccountAndProject(
    { configuration: api.readModel, writer: endingAfter(changes) },
    pendingOf(email),
  );
  await expect(ended).rejects.toThrow('the process has ended');
  const { project, account, keys } = await createAccountAndProject(
    { configuration: api.readModel, writer: api.writer },
    pendingOf(email),
  );
  expect(api.readModel.projects()).toHaveLength(before + 1);
  expect(projectsOf(account._id)).toEqual([api.readModel.project(project._id)]);
  expect(project.members).toMatchObject([{ accountCreatedAt: account.createdAt, role: 'owner' }]);
  const answer = await api.call('GET', '/v1/settings', { key: keys.at(-1)!.key });
  expect(answer.status).toBe(200);
});

test('concurrent sign-ups of one address leave one project, although none is deleted', async () => {
  const email = newEmail();
  const before = api.readModel.projects().length;
  const writes: number[] = [];
  const writer: ConfigurationWriter = {
    ...api.writer,
    write(changes) {
      expect(changes.every(({ record }) => record !== null)).toBe(true);
      writes.push(changes.length);
      return api.writer.write(changes);
    },
  };
  const attempts = await Promise.allSettled(
    Array.from({ length: 4 }, () =>
      createAccountAndProject({ configuration: api.readModel, writer }, pendingOf(email)),
    ),
  );
  expect(attempts.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected', 'rejected', 'rejected']);
  expect(api.readModel.projects()).toHaveLength(before + 1);
});

test('an address whose account was deleted gets a project of its own', async () => {
  const email = newEmail();
  const parts = { configuration: api.readModel, writer: api.writer };
  const first = await createAccountAndProject(parts, pendingOf(email));
  await api.writer.write([{ kind: 'account', id: first.account._id, record: null }]);
  const second = await createAccountAndProject(parts, pendingOf(email));
  expect(second.project._id).not.toBe(first.project._id);
  expect(api.readModel.project(first.project._id)?.keys).toEqual(first.project.keys);
});
