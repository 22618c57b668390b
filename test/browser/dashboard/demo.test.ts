/** The demo city in Chromium: it runs with one press, shows its progress, stops, and is removed. */
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import { asOwner, isRunnable, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

describe.runIf(isRunnable)('the demo city', () => {
  it('runs, makes users move, stops, and leaves no geofence', async () => {
    const backend = server.as('test_secret');
    const page = await asOwner('/start');
    await page.getByRole('button', { name: 'Run the demo city' }).click();
    await page.getByRole('progressbar', { name: 'Progress of the demo' }).waitFor();
    // It said "12 locationssent".
    await page.getByText(/ among \d+ geofences; [\d,]+ locations? sent; \d+ minutes left$/).waitFor();
    await page.getByRole('link', { name: 'See the map' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await expect.poll(async () => ok(await backend.get('/v1/demo')).demo.locations).toBeGreaterThan(0);
    await expect.poll(async () => ok(await backend.get('/v1/users?limit=1')).users[0]?.userId ?? '').toMatch(/^demo-/);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByRole('button', { name: 'Run the demo city again' }).waitFor();
    await page.getByRole('button', { name: 'Remove its geofences' }).click();
    await page.getByRole('button', { name: 'Run the demo city', exact: true }).waitFor();
    expect(ok(await backend.get('/v1/geofences/count?tag=demo')).count).toBe(0);
    await page.getByRole('radio', { name: 'Live' }).check();
    await page.getByRole('region', { name: 'Demo city' }).waitFor({ state: 'detached' });
  });
});
