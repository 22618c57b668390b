/** The dashboard's analytics: what a device did appears as numbers, charts, tables and files. */
import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { minuteMs } from '../../../schemas/durations.js';
import { until } from '../../../testing/until.js';
import { ok, trackDefaults } from '../../support/client.js';
import { at, circle } from '../../support/places.js';
import { asOwner, asViewer, isRunnable, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

/** Visits the shop for 20 minutes, then the café, and stays there. */
async function storeVisits(): Promise<void> {
  const backend = server.as('test_secret');
  await backend.putGeofence('shop', { ...circle(0, 0, 100), description: 'Corner shop' }, 'store');
  await backend.putGeofence('cafe', { ...circle(5_000, 0, 100), description: 'Caffè Roma' }, 'food');
  const startMs = Date.now() - 60 * minuteMs;
  const fix = (minutes: number, eastM: number) => {
    const [longitude, latitude] = at(eastM, 0);
    const device = { deviceId: 'phone', userId: 'ann', ...trackDefaults };
    return { ...device, latitude, longitude, updatedAtMs: startMs + minutes * minuteMs };
  };
  ok(await backend.bulk([fix(0, 0), fix(20, 2_000), fix(30, 5_000)]));
  await until(async () => ok(await backend.get('/v1/analytics/visits')).rows.length === 2);
}

/** The CSV of each panel: the name of the file, its columns, and a row. */
const files = [
  { panel: 'Entries', name: /^entries_.*\.csv$/, columns: ['start', 'local', 'tag', 'entries'], row: /,"food",1$/ },
  {
    panel: 'Visits',
    name: /^visits_.*\.csv$/,
    columns: [
      'entry',
      'user',
      'userId',
      'deviceId',
      'geofence',
      'beacon',
      'tag',
      'externalId',
      'enteredAt',
      'exitedAt',
      'durationMinutes',
      'state',
    ],
    row: /,"ann","phone",.*,"store","shop",.*,20,"ended"$/,
  },
  {
    panel: 'Dwell times',
    name: /^dwell-times_.*\.csv$/,
    columns: [
      'geofence',
      'beacon',
      'tag',
      'externalId',
      'visits',
      'openVisits',
      'unseenVisits',
      'p10Minutes',
      'p50Minutes',
      'p90Minutes',
      'p99Minutes',
      'histogram',
    ],
    row: /,"store","shop",1,0,0,20,20,20,20,/,
  },
  {
    panel: 'Flows',
    name: /^flows_.*\.csv$/,
    columns: [
      'fromGeofence',
      'fromBeacon',
      'fromTag',
      'fromExternalId',
      'toGeofence',
      'toBeacon',
      'toTag',
      'toExternalId',
      'flows',
      'users',
      'medianMinutes',
    ],
    row: /,"store","shop",.*,"food","cafe",1,1,10$/,
  },
  {
    panel: 'Inside now',
    name: /^inside_.*\.csv$/,
    columns: ['geofence', 'beacon', 'tag', 'externalId', 'devices', 'users', 'lastUpdatedAt'],
    row: /,"food","cafe",1,1,/,
  },
];

describe.runIf(isRunnable)('the view of analytics', () => {
  beforeAll(storeVisits);

  it('shows entries, visits, dwell times, flows and who is inside, as chart and as table', async () => {
    const page = await asOwner('/analytics', { viewport: { width: 1280, height: 2000 } });
    await page.locator('.tile', { hasText: 'Entries2' }).waitFor();
    await page.locator('.tile', { hasText: 'Median visit20 min' }).waitFor();
    await page.locator('.tile', { hasText: 'Inside now 1' }).waitFor();
    const panel = (name: string) => page.getByRole('region', { name, exact: true });
    await panel('Entries').getByRole('img', { name: 'Entries by day and tag' }).waitFor();
    await panel('Flows').getByRole('img', { name: '1 largest flows' }).waitFor();
    await panel('Inside now').getByRole('list').getByRole('button', { name: 'Caffè Roma' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    for (const name of ['Entries', 'Dwell times', 'Flows']) {
      await panel(name).getByRole('radio', { name: 'Table' }).check();
      await panel(name).getByRole('table').waitFor();
    }
    await panel('Flows').getByRole('row', { name: 'Corner shop Caffè Roma 1 1 10 min' }).waitFor();
    await panel('Visits').getByRole('radio', { name: 'Each visit' }).check();
    await panel('Visits')
      .getByRole('row', { name: /Corner shop ann 20 min Ended/ })
      .waitFor();
    expect(await seriousFindings(page)).toEqual([]);
  });

  it('downloads what each panel shows as CSV', async () => {
    const page = await asOwner('/analytics');
    for (const { panel, name, columns, row } of files) {
      const downloading = page.waitForEvent('download');
      await page.getByRole('link', { name: `${panel} as CSV` }).click();
      const download = await downloading;
      expect([panel, download.suggestedFilename()]).toEqual([panel, expect.stringMatching(name)]);
      const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\n');
      expect([panel, lines[0]]).toEqual([panel, columns.map((column) => `"${column}"`).join()]);
      expect([panel, lines.slice(1)]).toEqual([panel, expect.arrayContaining([expect.stringMatching(row)])]);
    }
  });

  it('limits all numbers to a place, keeps the choice in the address, and says when nothing happened', async () => {
    const page = await asOwner('/analytics');
    await page.getByRole('region', { name: 'Inside now' }).getByRole('button', { name: 'Caffè Roma' }).click();
    await page.locator('.tile', { hasText: 'Entries1' }).waitFor();
    await page.waitForURL(/tag=food&externalId=cafe/);
    await page.getByLabel('External id').fill('nowhere');
    await page.getByRole('heading', { name: 'No events in this range' }).waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    await page.locator('.tile', { hasText: 'Entries2' }).waitFor();
  });

  // The view read its address only once, and replaced it: Back left the page, and a link in the page changed nothing.
  it('goes back to the range and place that were chosen before', async () => {
    const page = await asOwner('/analytics?preset=30d');
    const range = (name: string) => page.getByRole('radio', { name });
    await page.getByRole('region', { name: 'Inside now' }).getByRole('button', { name: 'Caffè Roma' }).click();
    await page.waitForURL(/tag=food/);
    await range('24 h').check();
    await page.waitForURL(/preset=24h/);
    await range('Dates').check();
    await page.getByLabel('From').fill('2026-01-02');
    await page.waitForURL(/fromDate=2026-01-02/);
    await page.reload();
    expect(await page.getByLabel('From').inputValue()).toBe('2026-01-02');
    await page.goBack();
    await page.waitForURL(/preset=24h/);
    await expect.poll(() => range('24 h').isChecked()).toBe(true);
    await page.goBack();
    await expect.poll(() => range('30 days').isChecked()).toBe(true);
    expect(await page.getByLabel('Tag', { exact: true }).inputValue()).toBe('food');
    await page.goBack();
    await expect.poll(() => page.getByLabel('Tag', { exact: true }).inputValue()).toBe('');
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Analytics' }).click();
    await expect.poll(() => range('7 days').isChecked()).toBe(true);
  });

  // The range began where it had begun when the page was opened, so the last 24 hours became more with each hour.
  it('moves the range on with the time', async () => {
    const page = await asViewer('/start');
    await page.clock.install();
    const asked = (afterMs: number) =>
      page.waitForRequest((request) => {
        const { pathname, searchParams } = new URL(request.url());
        return pathname === '/v1/analytics/entries' && Date.parse(searchParams.get('from') ?? '') > afterMs;
      });
    const first = asked(0);
    await page.goto(`${server.address}/analytics?preset=24h`);
    const from = new URL((await first).url()).searchParams.get('from')!;
    const next = asked(Date.parse(from));
    await page.clock.fastForward('02:00:00');
    await next;
  });

  // With more rows by tag and hour than an answer has, the tile summed those that came, and nothing said that others
  // were missing. Here the answer is cut after its first row.
  it('counts all entries when the rows by tag are cut, and says that they are', async () => {
    const page = await asOwner('/start');
    await page.route('**/v1/analytics/entries?*', (route) =>
      route.continue({ url: route.request().url().replace('limit=10000', 'limit=1') }),
    );
    await page.goto(`${server.address}/analytics`);
    await page.getByText('These are the oldest 1 row; later ones').waitFor();
    await page.locator('.tile', { hasText: 'Entries2' }).waitFor();
  });

  // The tiles were loading forever.
  it('shows a dash for each number that the server refuses', async () => {
    const page = await asOwner('/start');
    await page.route('**/v1/analytics/*', (route) => route.fulfill({ status: 429, json: { meta: {} } }));
    await page.goto(`${server.address}/analytics`);
    await page.getByText('These were too many requests.').waitFor();
    await page.locator('.tile', { hasText: 'Different users–' }).waitFor();
    expect(await page.locator('.tile').allTextContents()).toEqual([
      'Entries–',
      'Different users–',
      'Median visit–',
      'Inside now –',
    ]);
  });

  it('says beside the dates which ranges the server refuses', async () => {
    const page = await asOwner('/analytics');
    await page.getByRole('radio', { name: 'Dates' }).check();
    // The refusal of a panel may come before that of the page.
    let release = () => {};
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    await page.route('**/v1/analytics/entries?*', (route) => released.then(() => route.continue()));
    const refusals = ['flows', 'dwell-times'].map((name) =>
      page.waitForResponse((answer) => answer.url().includes(`/${name}?`) && answer.status() === 400),
    );
    await page.getByLabel('From').fill('2020-01-01');
    for (const refusal of await Promise.all(refusals)) await refusal.finished();
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
    expect(await page.getByRole('alert').filter({ hasText: 'at most 92 days' }).count()).toBe(0);
    release();
    await page.getByRole('alert').filter({ hasText: 'at most 92 days' }).waitFor();
    await page.getByLabel('Through').fill('2020-01-02');
    await page.getByRole('heading', { name: 'No events in this range' }).waitFor();
  });

  // They were ordered by their ended visits, beside a column of all visits.
  it('orders places by all their visits, also those that go on', async () => {
    const backend = server.as('test_secret');
    const [longitude, latitude] = at(5_000, 0);
    ok(await backend.bulk([{ ...trackDefaults, deviceId: 'tablet', latitude, longitude, updatedAtMs: Date.now() }]));
    await until(async () => ok(await backend.get('/v1/analytics/visits')).rows.length === 3);
    const page = await asOwner('/analytics', { viewport: { width: 1280, height: 2000 } });
    const rows = page.getByRole('region', { name: 'Visits by place' }).getByRole('row');
    await rows.nth(2).waitFor();
    expect(await rows.allTextContents()).toMatchObject(
      [/^Place/, /^Caffè Romafood2/, /^Corner shopstore1/].map((each) => expect.stringMatching(each)),
    );
  });
});
