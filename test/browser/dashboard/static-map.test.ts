/** The composer of static maps: parameters become a picture and the code that shows it elsewhere. */
import { describe, expect, it } from 'vitest';
import { circle } from '../../support/places.js';
import { asOwner, isRunnable, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

describe.runIf(isRunnable)('the composer of static maps', () => {
  it('shows the picture as it changes, problems at their fields, and code that works with a key', async () => {
    const page = await asOwner('/static-maps');
    const picture = page.getByRole('region', { name: 'Picture' });
    await picture.getByRole('img', { name: 'The map' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Width', { exact: true }).fill('20');
    await page.getByRole('alert').filter({ hasText: 'width' }).waitFor();
    await page.getByLabel('Width', { exact: true }).fill('320');
    await page.getByLabel('Locations').fill('north of here');
    await page.getByRole('alert').filter({ hasText: 'Locations has "north of here"' }).waitFor();
    await page.getByLabel('Locations').fill('43.77,11.25\n41.9,12.5');
    await page.getByLabel('Format').selectOption('webp');
    await picture.getByText(/^WEBP, [\d.]+ KiB/).waitFor();

    await page.getByRole('radio', { name: 'URL', exact: true }).check();
    const code = (await page.getByRole('region', { name: 'Code' }).locator('pre').textContent()) ?? '';
    expect(code).toContain('width=320&height=400&scale=2&markers=43.77,11.25|41.9,12.5&format=webp');
    const response = await fetch(code.replace('prj_test_pk_…', server.keys.test_publishable));
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/webp']);
  });

  it('draws the geofences of a tag, and gives code for servers only', async () => {
    await server.as('test_secret').putGeofence('depot', circle(0, 0, 5_000), 'depots');
    const page = await asOwner('/static-maps');
    await page.getByRole('button', { name: 'Remove markers 1' }).click();
    await page.getByText('Nothing is drawn yet').waitFor();
    await page.getByLabel('Geofences').fill('depots');
    await page.getByText('Let your server ask for this map.').waitFor();
    await page.getByRole('radio', { name: 'curl' }).check();
    await page.getByText('-H "Authorization: $SECRET_KEY"').waitFor();
    await page.getByRole('img', { name: 'The map' }).waitFor();
  });

  // Forty pasted locations were gone with a click on a link. A copied code keeps them.
  it('asks before places that were typed are lost, unless their code was copied', async () => {
    // Only within the page does a browser let it ask.
    const page = await asOwner('/members');
    const open = () => page.getByRole('link', { name: 'Static maps' }).click();
    const link = page.getByRole('link', { name: 'Keys', exact: true });
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    await open();
    await page.getByLabel('Width', { exact: true }).fill('320');
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await open();

    const locations = page.getByLabel('Locations');
    await locations.fill('43.77,11.25');
    await link.click();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await page.evaluate('history.back()');
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    expect(await locations.inputValue()).toBe('43.77,11.25');
    await page.getByRole('button', { name: 'Copy the code' }).click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
  });
});
