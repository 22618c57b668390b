/** The dashboard's webhooks: attempts and their repetition, a paused one, and one that was deleted. */
import { beforeAll, describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok, trackDefaults } from '../../support/client.js';
import { circle, standing } from '../../support/places.js';
import { asOwner, besideTablePx, isRunnable, overflowPx, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

// A name that never resolves: each attempt fails in the same way on every machine.
const url = 'https://receiver.invalid/events';
let id: string;

/** Creates a webhook, and an event that could not be delivered to it. */
async function failOnce(): Promise<void> {
  const backend = server.as('test_secret');
  id = ok(await backend.post('/v1/webhooks', { url, description: 'Till' })).webhook._id;
  await backend.putGeofence('shop', circle(0, 0, 100), 'store');
  await server.as('test_publishable').track({ deviceId: 'phone', ...trackDefaults, ...standing(0, 0) });
  await until(async () => ok(await backend.get(`/v1/webhooks/${id}/attempts`)).attempts.length > 0);
}

describe.runIf(isRunnable)('the view of a webhook', () => {
  beforeAll(failOnce);

  it('shows a failed attempt with its request, and sends its event and a range of events again', async () => {
    const page = await asOwner(`/webhooks/${id}`);
    const row = page.getByRole('row', { name: 'user.entered_geofence' }).last();
    await row.waitFor();
    await page.setViewportSize({ width: 360, height: 760 });
    expect(await overflowPx(page)).toBe(0);
    // The answer was beside the screen.
    expect(await besideTablePx(page)).toBe(0);
    await page.getByText('the host name could not be resolved').filter({ visible: true }).first().waitFor();
    // So were the event and the reason, in a window of a laptop.
    for (const width of [760, 1000, 1180, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      await expect.poll(() => besideTablePx(page), { message: `${width} px` }).toBe(0);
    }
    await row.getByRole('button').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('"externalId": "shop"').waitFor();
    await dialog.getByText('There was none.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    // A refusal stood beneath the dialog, where nothing could be read aloud or pressed.
    await page.route('**/redeliver', (route) => route.fulfill({ status: 429, body: '' }), { times: 1 });
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByRole('alert').getByText('These were too many requests.').waitFor();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('It is sent again.').waitFor();
    await page.getByRole('row', { name: 'redelivery, attempt 1' }).waitFor();

    await page.getByRole('button', { name: 'Send a range again' }).click();
    await dialog.getByLabel('Events from').fill('2026-01-02T00:00');
    await dialog.getByLabel('To').fill('2026-01-01T00:00');
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByLabel('To').fill('');
    await dialog.getByRole('checkbox', { name: 'Only what was not delivered' }).uncheck();
    await dialog.getByRole('button', { name: 'Send again' }).click();
    await page.getByText('1 delivery is queued.').waitFor();
  });

  // The toast belonged to the view, and was lost with it.
  it('says what became of a sample after its view was left', async () => {
    const page = await asOwner(`/webhooks/${id}`);
    let answer = (): void => {};
    const isDue = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/v1/webhooks/*/test', (route) => isDue.then(() => route.continue()));
    await page.getByRole('button', { name: 'Send a sample' }).click();
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    answer();
    await page.locator('.toast').filter({ hasText: 'The host name could not be resolved' }).waitFor();
  });

  // The list asked for the attempts of each webhook every ten seconds: a thousand requests, and all else waited. All
  // rows were in the document, and each letter of a search rendered them.
  it('asks only for the health of webhooks in sight, and finds one by its address', async () => {
    const backend = server.as('live_secret');
    const count = 60;
    for (let at = 0; at < count; at += 1) {
      ok(await backend.post('/v1/webhooks', { url: `${url}/${at}`, description: `Till ${at}` }));
    }
    const page = await asOwner('/keys?environment=live');
    const asked = new Set<string>();
    page.on('request', (request) => {
      const { pathname } = new URL(request.url());
      if (pathname.endsWith('/attempts')) asked.add(pathname);
    });
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText(`${count} webhooks`).waitFor();
    await page.getByText('No attempts yet').first().waitFor();
    expect(asked.size).toBeLessThan(count / 2);
    const list = page.getByRole('region', { name: 'List of webhooks' });
    const rows = list.locator('tbody tr[aria-rowindex]');
    expect(await rows.count()).toBeLessThan(count / 1.5);
    const oldest = rows.filter({ hasText: 'Till 0' });
    await list.evaluate((each) => each.scrollTo(0, each.scrollHeight));
    await oldest.getByText('No attempts yet').waitFor();
    await page.getByRole('searchbox').fill('TILL 59');
    await page.getByText(`1 of ${count} webhooks`).waitFor();
    await page.reload();
    await page.getByText(`1 of ${count} webhooks`).waitFor();
    expect(await rows.count()).toBe(1);
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('says that a webhook is paused, enables it, and deletes it', async () => {
    ok(await server.as('test_secret').send('PATCH', `/v1/webhooks/${id}`, { body: { enabled: false } }));
    const page = await asOwner('/webhooks');
    await page.getByRole('row').filter({ hasText: 'Disabled' }).getByRole('link', { name: url }).click();
    await page.getByText('Nothing is sent. An owner disabled it.').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByText('Nothing is sent.').waitFor({ state: 'detached' });
    await page.getByRole('tab', { name: 'Settings' }).click();
    // A look at another tab emptied this field.
    await page.getByLabel('Description').fill('Typed, not saved');
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.getByRole('button', { name: 'Rotate' }).waitFor();
    await page.getByRole('tab', { name: 'Settings' }).click();
    expect(await page.getByLabel('Description').inputValue()).toBe('Typed, not saved');
    await page.getByRole('button', { name: 'Delete the webhook' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    await page.goto(`${server.address}/webhooks/${id}`);
    await page.getByRole('heading', { name: 'This webhook does not exist' }).waitFor();
  });
});
