/** Two browsers on one record, and changes whose answer is lost: nothing is lost in silence, or done twice. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { asOwner, asViewer, isRunnable, says, server, useDashboard } from './fixture.js';

useDashboard();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

/** Lets the server do the next change, and cuts the connection before its answer. */
async function loseNextAnswer(page: Page): Promise<void> {
  let isLost = false;
  await page.route('**/v1/**', async (route) => {
    if (isLost || route.request().method() === 'GET') return route.fallback();
    isLost = true;
    await route.fetch();
    return route.abort('connectionreset');
  });
}

/** Does what makes a change, whose answer is lost, and does it again. */
async function twice(page: Page, act: () => Promise<void>): Promise<void> {
  await loseNextAnswer(page);
  await act();
  await page.getByText('The server did not answer. Try again').waitFor();
  await act();
}

describe.runIf(isRunnable)('a change whose answer is lost', () => {
  // "Nothing was changed, as far as this page knows." A second attempt made a second webhook, which got all events too.
  it('makes one webhook and one secret, which the second attempt shows', async () => {
    const page = await asOwner('/webhooks');
    await button(page, 'New webhook').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('URL').fill('https://receiver.invalid/once');
    await twice(page, () => button(page, 'Create webhook').click());
    await page.getByRole('heading', { name: 'The signing secret' }).waitFor();
    const backend = server.as('test_secret');
    const { webhooks } = ok(await backend.get('/v1/webhooks'));
    expect(webhooks).toHaveLength(1);
    await button(page, 'Done').click();

    await page.getByRole('tab', { name: 'Secrets' }).click();
    await button(page, 'Rotate').click();
    await page.unrouteAll();
    await twice(page, () => dialog.getByRole('button', { name: 'Rotate' }).click());
    await page.getByRole('heading', { name: 'The new secret' }).waitFor();
    const { webhook } = ok(await backend.get(`/v1/webhooks/${webhooks[0]._id}`));
    expect(webhook.secrets).toHaveLength(2);
  });

  // The second attempt said that somebody else had changed the record, or that its pair was taken.
  it('is recognised as its own by the forms of a geofence and of the project', async () => {
    const page = await asOwner('/geofences/new');
    const fields = { Description: 'Once', Tag: 'kept', 'External id': 'one', Latitude: '1', Longitude: '1' };
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
    await twice(page, () => button(page, 'Create geofence').click());
    await page.getByRole('link', { name: 'Once' }).click();

    await page.getByLabel('Description').fill('Once more');
    await page.unrouteAll();
    await twice(page, () => button(page, 'Save changes').click());
    await page.getByRole('link', { name: 'Once more' }).waitFor();

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Depot');
    await page.unrouteAll();
    await twice(page, () => button(page, 'Rename').click());
    await page.getByText('The project is renamed.').waitFor();
  });
});

describe.runIf(isRunnable)('two browsers', () => {
  // The later of two owners who replaced the same key ended the key that the earlier one had just been shown.
  it('replace the key that they see, and no other', async () => {
    const [first, second] = [await asOwner('/keys?environment=live'), await asOwner('/keys?environment=live')];
    for (const page of [first, second]) await button(page, 'Replace the secret key').click();
    await button(first, 'Replace key').click();
    const key = await first.getByText(/^prj_live_sk_\w{20,}/).textContent();
    await button(second, 'Replace key').click();
    await second.getByRole('alert').getByText('Somebody else has changed this record meanwhile').waitFor();
    expect((await server.withKey(key!).get('/v1/settings')).status).toBe(200);
    // After that, the second one sees the new key, and may replace it.
    await button(second, 'Cancel').click();
    await second.getByText(`prj_live_sk_…${key!.slice(-4)}`).waitFor();
  });

  // The form of one owner went away with what was typed when the other one had saved, and replaced it before that.
  it('set up one sync, and one of them keeps what is typed', async () => {
    const [first, second] = [await asOwner('/sync'), await asOwner('/sync')];
    for (const [page, name] of [
      [first, 'first'],
      [second, 'second'],
    ] as const) {
      await button(page, 'Set up the sync').click();
      await page.getByLabel('Read the files every night').uncheck();
      await page.getByLabel('URLs').fill(`https://receiver.invalid/${name}.csv`);
    }
    await says(first, 'The sync is saved.', button(first, 'Save and run').click());
    await button(second, 'Save and run').click();
    await second.getByText('Somebody else has changed this record meanwhile').waitFor();
    expect(await second.getByLabel('URLs').inputValue()).toBe('https://receiver.invalid/second.csv');
    await button(second, 'Show its present state').click();
    await button(second, 'Discard').click();
    await expect.poll(() => second.getByLabel('URLs').inputValue()).toBe('https://receiver.invalid/first.csv');

    // So did the form of a sync that was deleted.
    await second.getByLabel('URLs').fill('https://receiver.invalid/typed.csv');
    await first.getByLabel('URLs').fill('https://receiver.invalid/given-up.csv');
    await button(first, 'Delete the sync').click();
    await button(first, 'Delete').click();
    await button(first, 'Set up the sync').click();
    expect(await first.getByLabel('URLs').inputValue()).toBe('');
    expect(await first.getByRole('dialog').count()).toBe(0);
    await button(second, 'Save and run').click();
    await second.getByText('Somebody else has deleted').first().waitFor();
    expect(await second.getByLabel('URLs').inputValue()).toBe('https://receiver.invalid/typed.csv');
  });

  // The row stayed, so the change was refused again and again.
  it('see that a member is gone when a change of the role is refused', async () => {
    await asViewer('/members');
    const [first, second] = [await asOwner('/members'), await asOwner('/members')];
    const role = second.getByRole('combobox', { name: /^Role of viewer/ });
    await role.waitFor();
    await first.getByRole('button', { name: /^Remove viewer/ }).click();
    await button(first, 'Remove').click();
    await first.getByRole('button', { name: /^Remove viewer/ }).waitFor({ state: 'detached' });
    await role.selectOption('owner');
    await role.waitFor({ state: 'detached' });
  });
});
