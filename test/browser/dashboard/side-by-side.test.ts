/** Two browsers on one record, and changes whose answer is lost: nothing is lost in silence, or done twice. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { asOwner, asViewer, isRunnable, says, server, twice, useDashboard } from './fixture.js';

useDashboard();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });

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
    await twice(page, () => button(page, 'Save changes').click());
    await page.getByRole('link', { name: 'Once more' }).waitFor();

    await page.getByRole('link', { name: 'Settings' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Depot');
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

  // The rotation went over what the page had read behind its dialog, and ended a secret that nobody had seen.
  it('rotate the secret that they see, also where the page has learned of a newer one meanwhile', async () => {
    const backend = server.as('test_secret');
    const created = ok(await backend.post('/v1/webhooks', { url: 'https://receiver.invalid/rotated' })).webhook;
    const page = await asOwner(`/webhooks/${created._id}?tab=secrets`);
    let answer = (): void => {};
    const isDue = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/v1/webhooks/*/test', (route) => isDue.then(() => route.continue()));
    await button(page, 'Send a sample').click();
    await button(page, 'Rotate').click();
    const path = `/v1/webhooks/${created._id}/secrets`;
    const { secrets } = ok(await backend.post(path, { overlapHours: 0 })).webhook;
    answer();
    // The answer to the sample makes the page read the webhook again.
    await page.getByRole('region', { name: 'Secrets' }).getByText(secrets[0].hint).waitFor();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await dialog.getByText('Somebody else has changed this record meanwhile').waitFor();
    const present = ok(await backend.get(`/v1/webhooks/${created._id}`)).webhook.secrets;
    expect(present.map(({ _id }: { _id: string }) => _id)).toEqual(secrets.map(({ _id }: { _id: string }) => _id));
    await button(page, 'Cancel').click();
    await button(page, 'Rotate').click();
    await dialog.getByRole('button', { name: 'Rotate' }).click();
    await page.getByRole('heading', { name: 'The new secret' }).waitFor();
  });

  // The form said that the record was deleted, and offered nothing that keeps what was typed.
  it('create a webhook and a sync again that somebody else has deleted', async () => {
    const backend = server.as('test_secret');
    const { webhook } = ok(await backend.post('/v1/webhooks', { url: 'https://receiver.invalid/deleted' }));
    const page = await asOwner(`/webhooks/${webhook._id}?tab=settings`);
    await page.getByLabel('Description').fill('Typed here');
    ok(await backend.delete(`/v1/webhooks/${webhook._id}`));
    await button(page, 'Save changes').click();
    await page.getByText('Somebody else has deleted this record').waitFor();
    await button(page, 'Create it again').click();
    await page.getByText(/^whsec_/).waitFor();
    await button(page, 'Done').click();
    await page.getByRole('heading', { level: 1, name: 'Typed here' }).waitFor();
    const { webhooks } = ok(await backend.get('/v1/webhooks'));
    const isTyped = ({ description }: { description?: string }) => description === 'Typed here';
    expect(webhooks.filter(isTyped)).toHaveLength(1);

    const bucket = { region: 'eu-central-1', bucket: 'shops', keys: ['shops.csv'], endpoint: 'https://store.invalid' };
    const credentials = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };
    ok(await backend.put('/v1/sync', { protocol: 's3', ...bucket, ...credentials }));
    await page.goto(`${server.address}/sync`);
    await page.getByLabel('Bucket').fill('typed-here');
    ok(await backend.delete('/v1/sync'));
    await button(page, 'Save and run').click();
    await page.getByText('Somebody else has deleted this record').waitFor();
    await button(page, 'Create it again').click();
    // They were deleted with the sync, and the form had no field for others.
    await page.getByRole('alert').filter({ hasText: 'Access key id is' }).waitFor();
    await page.getByLabel('Access key id').fill('AKIDEXAMPLE');
    await page.getByLabel('Secret access key').fill('a-secret-of-the-test');
    await says(page, 'The sync is saved, and runs now.', button(page, 'Save and run').click());
    expect(ok(await backend.get('/v1/sync')).sync).toMatchObject({ bucket: 'typed-here', hasCredentials: true });
    ok(await backend.delete('/v1/sync'));
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
