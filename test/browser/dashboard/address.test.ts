/** What the address of a page says: it can be copied, reloaded, and found again with Back. */
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { until } from '../../../testing/until.js';
import { ok, trackDefaults } from '../../support/client.js';
import { circle, standing } from '../../support/places.js';
import { asOwner, invite, isRunnable, newPage, send, seriousFindings, server, useDashboard } from './fixture.js';

useDashboard();

const password = 'a good long password';

/** Opens the dashboard as somebody new, who owns the projects Shop and Warehouse. */
async function asOwnerOfTwo(email = `address-${Date.now()}@example.com`): Promise<Page> {
  const page = await newPage();
  const { project } = await send(page.context(), '/v1/signup', { email, password, project: 'Shop' });
  await send(page.context(), '/v1/account/projects', { name: 'Warehouse' });
  await page.goto(`${server.address}/geofences?project=${project._id}`);
  await page.getByRole('button', { name: 'Project: Shop' }).waitFor();
  return page;
}

const projectButton = (page: Page, name: string) => page.getByRole('button', { name: `Project: ${name}` });
const environment = (page: Page, name: string) => page.getByRole('radio', { name, exact: true });

async function chooseProject(page: Page, from: string, to: string): Promise<void> {
  await projectButton(page, from).click();
  await page.getByRole('menuitemradio', { name: to }).click();
  await projectButton(page, to).waitFor();
}

describe.runIf(isRunnable)('the address of a page', () => {
  // All tabs shared one choice in the browser's storage: a reload of a tab showed, and changed, another tab's project.
  it('keeps project and environment of each tab, and goes back to them', async () => {
    const page = await asOwnerOfTwo();
    const second = await page.context().newPage();
    await second.goto(page.url());
    await chooseProject(second, 'Shop', 'Warehouse');
    await environment(second, 'Live').check();
    await second.waitForURL(/environment=live/);
    await page.reload();
    await projectButton(page, 'Shop').waitFor();
    expect(await environment(page, 'Test').isChecked()).toBe(true);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByRole('heading', { name: 'No webhooks yet' }).waitFor();
    await page.reload();
    await projectButton(page, 'Shop').waitFor();

    await second.goBack();
    await second.waitForURL(/environment=test/);
    await projectButton(second, 'Warehouse').waitFor();
    expect(await environment(second, 'Test').isChecked()).toBe(true);
    await second.goBack();
    await projectButton(second, 'Shop').waitFor();
    await second.goForward();
    await projectButton(second, 'Warehouse').waitFor();

    // An address without a project shows what was chosen last.
    await page.goto(`${server.address}/keys`);
    await projectButton(page, 'Warehouse').waitFor();
    expect(await environment(page, 'Live').isChecked()).toBe(true);
  });

  // The server's answer was what the browser remembered, so the address was not completed. It followed another tab.
  it('is completed when it is opened by hand, and keeps its environment', async () => {
    const page = await asOwner('/geofences');
    await page.waitForURL(/project=/);
    await page.goto(`${server.address}/keys`);
    await page.waitForURL(/keys\?project=\w+&environment=test/);

    const second = await page.context().newPage();
    await second.goto(page.url());
    await environment(second, 'Live').check();
    await second.waitForURL(/environment=live/);
    // Tabs of both environments had one title.
    await expect.poll(() => second.title()).toMatch(/^Keys · .+, Live · Fenceline$/);
    expect(await page.title()).toMatch(/^Keys · .+, Test · Fenceline$/);
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Users' }).click();
    await page.getByRole('heading', { name: 'Users' }).waitFor();
    expect(await environment(page, 'Test').isChecked()).toBe(true);
  });

  // The address named no project, so the receiver of a link saw the same path of another project.
  it('leads the receiver of a link to the same project, and says if that is not theirs', async () => {
    const { _id } = await server.as('live_secret').putGeofence('linked', circle(0, 0, 100), 'shop');
    const sender = await asOwner('/geofences');
    await environment(sender, 'Live').check();
    await sender.getByRole('link', { name: 'linked' }).click();
    await sender.getByLabel('Description').waitFor();
    const link = sender.url();
    expect(new URL(link).pathname).toBe(`/geofences/${_id}`);
    await sender.evaluate("localStorage.setItem('fenceline.environment', 'test')");
    const received = await asOwner(link.slice(server.address.length));
    await received.getByLabel('Description').waitFor();
    expect(await environment(received, 'Live').isChecked()).toBe(true);

    const stranger = await asOwnerOfTwo();
    await stranger.goto(link);
    await stranger.getByRole('heading', { name: 'Not your project' }).waitFor();
    expect(await seriousFindings(stranger)).toEqual([]);
    await stranger.getByRole('link', { name: 'Warehouse' }).click();
    await projectButton(stranger, 'Warehouse').waitFor();
  });

  // It opened the first project. A link that had been used ended the session, and led no further.
  it('leads from an invitation to its project, and on from a link that was used', async () => {
    const email = `invited-${Date.now()}@example.com`;
    const page = await asOwnerOfTwo(email);
    await chooseProject(page, 'Shop', 'Warehouse');
    const link = await invite(email);
    await page.goto(server.address + link);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Accept' }).click();
    await projectButton(page, `test ${process.pid}`).waitFor();
    await page.waitForURL(new RegExp(`project=${server.project}`));

    await page.goto(server.address + link);
    await page.getByText('This invitation is used, withdrawn or expired.').waitFor();
    await page.getByRole('button', { name: 'Go on without this link' }).click();
    await projectButton(page, `test ${process.pid}`).waitFor();
    await page.context().clearCookies();
    await page.goto(server.address + link);
    await page.getByRole('button', { name: 'Go on without this link' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  // Back lost a filled form without a question.
  it('asks before Back leaves unsaved changes, and goes back after the answer', async () => {
    const { _id } = await server.as('test_secret').putGeofence('typed', circle(0, 0, 100), 'shop');
    const page = await asOwner('/members');
    await page.getByRole('link', { name: 'Geofences' }).click();
    await page.locator(`a[href^="/geofences/${_id}"]`).click();
    const description = page.getByLabel('Description');
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    for (const answer of ['Cancel', 'Discard']) {
      await description.click();
      await page.keyboard.type('x');
      await page.evaluate('history.back()');
      await question.getByRole('button', { name: answer }).click();
      await question.waitFor({ state: 'detached' });
      if (answer === 'Cancel') expect(await description.inputValue()).toContain('x');
    }
    await page.getByRole('heading', { level: 1, name: 'Geofences' }).waitFor();
    // The address stayed where it was while the question was asked.
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  });

  // Back closed dialogs without a question, with typed text, a secret that is shown once, or an answer on its way.
  it.each([
    ['/webhooks', 'New webhook', 'URL'],
    ['/settings', 'Delete project', 'Name of the project'],
  ])('asks before Back or Escape loses what is typed in a dialog: %s, %s', async (path, button, label) => {
    const page = await asOwner('/members');
    await page.getByRole('navigation', { name: 'Main' }).locator(`a[href^="${path}?"]`).click();
    const dialog = page.getByRole('dialog').filter({ has: page.getByLabel(label) });
    const question = page.getByRole('dialog', { name: 'Discard your changes?' });
    const open = () => page.getByRole('button', { name: button }).first().click();
    await open();
    await dialog.getByLabel(label).fill('typed');
    for (const leave of ['back', 'Escape', 'Escape again', 'back again']) {
      if (leave.startsWith('back')) await page.evaluate('history.back()');
      else await page.keyboard.press('Escape');
      await question.getByRole('button', { name: 'Cancel' }).click();
      await question.waitFor({ state: 'detached' });
      expect([leave, await dialog.getByLabel(label).inputValue()]).toEqual([leave, 'typed']);
    }
    // Escape answers the question, too, and the key goes back to the field.
    await page.keyboard.press('Escape');
    await question.waitFor();
    await page.keyboard.press('Escape');
    await question.waitFor({ state: 'detached' });
    expect(await dialog.getByLabel(label).inputValue()).toBe('typed');
    await dialog.getByLabel(label).fill('');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    await open();
    await dialog.getByLabel(label).fill('typed');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    await dialog.waitFor({ state: 'detached' });
    await open();
    await dialog.getByLabel(label).fill('typed');
    await page.evaluate('history.back()');
    await question.getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  });

  it('asks before Back loses the answer to a change, or a key that is shown once', async () => {
    const page = await asOwner('/members');
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    let answer = (): void => {};
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/keys/rotate', (route) => isAnswered.then(() => route.continue()));
    await page.getByRole('button', { name: 'Replace the publishable key' }).click();
    await page.getByRole('button', { name: 'Replace key' }).click();
    await page.evaluate('history.back()');
    const early = page.getByRole('dialog', { name: 'Leave before the answer?' });
    await early.waitFor();
    answer();
    // The answer also ends the question.
    const key = page.getByText(/^prj_test_pk_[0-9a-f]+$/);
    await key.waitFor();
    await early.waitFor({ state: 'detached' });
    // Chromium lets a page ask again only after its user has done something.
    await page.getByRole('heading', { name: 'The new key' }).click();
    await page.evaluate('history.back()');
    const question = page.getByRole('dialog', { name: 'Leave without a copy?' });
    expect(await seriousFindings(page)).toEqual([]);
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    await key.waitFor();
    await page.getByRole('button', { name: 'Done' }).click();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
  });

  // The menu stayed open over the view before.
  it.each(['Account and appearance', 'Project: '])('closes a menu of the frame with Back: %s', async (name) => {
    const page = await asOwner('/keys');
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    await page.getByRole('button', { name }).click();
    const menu = page.getByRole('menu');
    await menu.waitFor();
    await page.goBack();
    await page.getByRole('heading', { level: 1, name: 'Keys' }).waitFor();
    await menu.waitFor({ state: 'detached' });
    await page.goForward();
    await page.getByRole('heading', { level: 1, name: 'Members' }).waitFor();
    expect(await menu.count()).toBe(0);
    await page.getByRole('button', { name }).click();
    await menu.waitFor();
    await page.keyboard.press('Escape');
    // The view is the same, in the other environment.
    await environment(page, 'Live').check();
    await page.waitForURL(/environment=live/);
    await page.getByRole('button', { name }).click();
    await menu.waitFor();
    await page.goBack();
    await menu.waitFor({ state: 'detached' });
  });

  it('closes the menu of narrow screens with Back, also to the other environment', async () => {
    const page = await asOwner('/members', { viewport: { width: 390, height: 800 } });
    await environment(page, 'Live').check();
    await page.waitForURL(/environment=live/);
    await page.getByRole('button', { name: 'Menu', exact: true }).click();
    const menu = page.getByRole('dialog', { name: 'Menu' });
    await menu.waitFor();
    await page.goBack();
    await page.waitForURL(/environment=test/);
    await menu.waitFor({ state: 'detached' });
  });

  // A reload of a webhook's settings showed its attempts, and one of Live or of a timeline forgot what was chosen.
  it('keeps the tab of a webhook and its filter, the filters of Live, and the range of a timeline', async () => {
    const backend = server.as('test_secret');
    const url = 'https://receiver.invalid/';
    const { webhook } = ok(await backend.post('/v1/webhooks', { url }));
    const page = await asOwner(`/webhooks/${webhook._id}`);
    await page.getByLabel('State').selectOption('Given up');
    await page.getByRole('tab', { name: 'Settings' }).click();
    await page.getByLabel('Description').fill('Typed, not saved');
    await page.getByRole('tab', { name: 'Secrets' }).click();
    await page.goBack();
    await page.getByRole('tab', { name: 'Settings', selected: true }).waitFor();
    expect(await page.getByLabel('Description').inputValue()).toBe('Typed, not saved');
    await page.getByLabel('Description').fill('');
    await page.reload();
    await page.getByRole('tab', { name: 'Settings', selected: true }).waitFor();
    await page.goBack();
    await page.getByRole('tab', { name: 'Attempts', selected: true }).waitFor();
    expect(await page.getByLabel('State').inputValue()).toBe('given_up');

    await page.goto(`${server.address}/live`);
    await page.getByLabel('Type').selectOption('user.exited_geofence');
    await page.getByRole('searchbox', { name: 'Tag' }).fill('shop');
    await page.waitForURL(/type=user.exited_geofence&tag=shop/);
    await page.reload();
    await expect.poll(() => page.getByRole('searchbox', { name: 'Tag' }).inputValue()).toBe('shop');
    expect(await page.getByLabel('Type').inputValue()).toBe('user.exited_geofence');

    const { user } = await backend.track({ deviceId: 'walker', ...trackDefaults, ...standing(0, 0) });
    await until(async () => (await backend.get(`/v1/users/${user._id}/locations`)).body.locations?.length > 0);
    await page.goto(`${server.address}/users/${user._id}`);
    await page.getByRole('radio', { name: 'Week' }).press('Space');
    await page.locator('.timeline-list .event-row').first().click();
    await page.waitForURL(/range=week.*at=/);
    await page.reload();
    expect(await page.getByRole('radio', { name: 'Week' }).isChecked()).toBe(true);
    await page.locator('.timeline-list .event-row[aria-current]').waitFor();
    // By the keyboard: the page may still move, and a forced click would hit what comes in its place.
    await page.getByRole('radio', { name: 'Dates' }).press('Space');
    await page.getByLabel('From').fill('2026-01-02T03:04');
    await page.getByRole('button', { name: 'Show' }).click();
    await page.reload();
    expect(await page.getByLabel('From').inputValue()).toBe('2026-01-02T03:04');
    // An end that is missing was reported at the beginning, as one before it.
    await page.getByLabel('To', { exact: true }).fill('');
    await page.getByText('Needs a date and a time').waitFor();
    expect(await page.getByText('Must be before the end').count()).toBe(0);
  });
});
