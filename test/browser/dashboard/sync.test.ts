/** The dashboard's view of the nightly sync in Chromium, against a web server of files. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absoluteTime } from '../../../dashboard/components/time.js';
import { Receiver } from '../../../testing/receiver.js';
import { ok } from '../../support/client.js';
import { asOwner, asViewer, isRunnable, says, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

const shops = `description,type,tag,externalId,coordinates,radius
Shop a,circle,shop,a,"[11.25,43.77]",100
Shop b,circle,shop,b,"[11.25,43.77]",100
`;
let files: Receiver;
beforeAll(async () => {
  files = await Receiver.start();
  files.answering = ({ path, headers }, response) => {
    if (path !== '/shops.csv') response.writeHead(404).end();
    else if (headers['if-none-match'] === '"one"') response.writeHead(304).end();
    else response.writeHead(200, { 'content-type': 'text/csv', etag: '"one"' }).end(shops);
  };
});
afterAll(() => files.close());

describe.runIf(isRunnable)('the sync view', () => {
  it('saves URLs, runs, shows the result of each file, and never shows credentials', async () => {
    const page = await asOwner('/sync');
    await page.getByRole('button', { name: 'Set up the sync' }).click();
    await page.getByLabel('URLs').fill('ftp://example.com/shops.csv');
    await page.getByLabel('Notification email').fill('nobody');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page.getByRole('alert').filter({ hasText: 'Notification email must' }).waitFor();
    await page.getByLabel('Notification email').fill('');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page.getByRole('alert').filter({ hasText: 'URLs must' }).waitFor();
    await page.getByLabel('URLs').fill(files.url('/shops.csv'));
    await page.getByRole('button', { name: 'Save and run' }).click();
    const state = page.getByRole('region', { name: 'State' });
    await state.getByText('2 rows, 2 created, 0 updated, 0 unchanged, 0 bad').waitFor();
    // The night begins where the server is.
    const { nextRunAt } = ok(await server.as('test_secret').get('/v1/sync')).sync;
    expect(Date.parse(nextRunAt)).toBeGreaterThan(Date.now());
    await state.getByText(absoluteTime(nextRunAt)).waitFor();
    await page.getByRole('button', { name: 'Run now' }).click();
    await state.getByText('Not changed, skipped').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page
      .getByRole('region', { name: 'History' })
      .getByRole('link', { name: /shops\.csv/ })
      .waitFor();

    // The page was opened before these runs changed the revision of the sync.
    await page.getByLabel('URLs').fill(`${files.url('/shops.csv')}\n${files.url('/gone.csv')}`);
    await page.getByRole('button', { name: 'Save and run' }).click();
    await state.getByText('Failed').first().waitFor();
    await state.getByText('404').first().waitFor();

    await page.getByRole('radio', { name: 'Object storage' }).check();
    await page.getByLabel('Region').fill('eu-central-1');
    await page.getByLabel('Bucket').fill('shops');
    await page.getByLabel('Endpoint').fill(files.url('/').slice(0, -1));
    await page.getByLabel('Keys').fill('absent.csv');
    await page.getByLabel('Access key id').fill('AKIDEXAMPLE');
    await page.getByLabel('Secret access key').fill('a-secret-of-the-test');
    await page.getByRole('checkbox', { name: 'Read the files every night' }).uncheck();
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page.getByText('They are never shown again.').waitFor();
    expect(await page.content()).not.toContain('a-secret-of-the-test');
    await state.getByText('None: the sync is off').waitFor();
    expect(ok(await server.as('test_secret').get('/v1/sync')).sync).toMatchObject({
      enabled: false,
      bucket: 'shops',
      hasCredentials: true,
    });
    await page.getByRole('button', { name: 'Replace the credentials' }).click();
    await page.getByLabel('Access key id').fill('AKIDOTHER');
    await page.getByRole('button', { name: 'Save and run' }).click();
    await page.getByRole('alert').filter({ hasText: 'Secret access key is' }).waitFor();

    const viewer = await asViewer('/sync');
    await viewer.getByText('They are never shown again.').waitFor();
    for (const name of ['Save and run', 'Run now', 'Replace the credentials', 'Delete the sync'])
      expect([name, await viewer.getByRole('button', { name }).count()]).toEqual([name, 0]);

    await page.getByRole('button', { name: 'Delete the sync' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('No sync yet').waitFor();
  });

  // A script changed the sync while its form was open. "Show its present state" did nothing, and each later save was
  // refused until the page was read again. Typed text was lost without a question when another view was opened.
  it('shows what somebody else saved, saves over that, and asks before typed text is lost', async () => {
    const backend = server.as('test_secret');
    const put = async (notificationEmail: string) =>
      ok(await backend.put('/v1/sync', { ...configuration, notificationEmail }));
    const configuration = { enabled: false, protocol: 'http', urls: [files.url('/shops.csv')] };
    await put('first@example.com');
    const page = await asOwner('/sync');
    const email = page.getByLabel('Notification email');
    const save = page.getByRole('button', { name: 'Save and run' });
    await email.fill('mine@example.com');
    await put('theirs@example.com');
    await save.click();
    await page.getByText('Somebody else has changed').waitFor();
    await page.getByRole('button', { name: 'Show its present state' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => email.inputValue()).toBe('theirs@example.com');
    await email.fill('mine@example.com');
    await says(page, 'The sync is saved.', save.click());
    expect(ok(await backend.get('/v1/sync')).sync.notificationEmail).toBe('mine@example.com');

    await email.fill('typed@example.com');
    await page.getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
    expect(await email.inputValue()).toBe('typed@example.com');
    ok(await backend.delete('/v1/sync'));
  });
});
