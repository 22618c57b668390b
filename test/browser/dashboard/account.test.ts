/** The page of the account in Chromium: projects, password, sessions, and the end of the account. */
import { describe, expect, it } from 'vitest';
import {
  asOwner,
  asViewer,
  invite,
  isRunnable,
  newPage,
  open,
  send,
  seriousFindings,
  server,
  twice,
  useDashboard,
} from './fixture.js';

useDashboard();

const password = 'correct horse battery';
const otherPassword = 'another horse battery';
let accounts = 0;

/** Opens a path as somebody new. */
async function asNewAccount(path: string) {
  const email = `account-${Date.now()}-${++accounts}@example.com`;
  const page = await newPage();
  await send(page.context(), '/v1/signup', { email, password, project: 'Shop' });
  await page.goto(server.address + path);
  return { page, email };
}

describe.runIf(isRunnable)('the account', () => {
  // The keys of a sign-up are shown once, and were held by the entrance. The page asks for the session when its user
  // comes back to it: that was there by then, so the dashboard took the entrance's place, and the keys were gone.
  it('shows the keys of a sign-up until the user continues, also after a look at another tab', async () => {
    const page = await open('/');
    await page.getByRole('button', { name: 'Create an account' }).click();
    await page.getByLabel('Email').fill(`account-${Date.now()}-${++accounts}@example.com`);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('heading', { name: 'Your keys' }).waitFor();
    const isAsked = page.waitForResponse((response) => response.url().endsWith('/v1/session'));
    await page.evaluate(`{
      const now = Date.now;
      Date.now = () => now() + 120_000;
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }`);
    expect((await isAsked).status()).toBe(200);
    await page.waitForFunction("Object.keys(localStorage).some((name) => name.endsWith('session'))");
    await page.getByRole('heading', { name: 'Your keys' }).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
  });

  // The page asked for a password, and said neither for which project nor for which address.
  it('says to what an invitation leads, for whom, and when it leads nowhere', async () => {
    const email = `guest-${Date.now()}-${++accounts}@example.com`;
    const path = await invite(email);
    const page = await open(path);
    await page.getByRole('heading', { name: 'Join test' }).waitFor();
    await page.getByText(`You are invited as a viewer, by the address ${email}. An account is created`).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Accept' }).click();
    await page.getByRole('navigation', { name: 'Main' }).waitFor();
    const again = await open(path);
    await again.getByRole('alert').getByText('This invitation is used, withdrawn or expired.').waitFor();
    await again.getByRole('button', { name: 'Go on without this link' }).click();
    await again.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  // Without a mail server, a reset of the password and an invitation seemed to be sent, and nobody got a mail.
  it.each([
    ['outbox', 'If the address has an account, its link is in the outbox folder.'],
    ['sent', 'If the address has an account, a mail is on its way.'],
  ])('says what becomes of the mail with which a password is reset: %s', async (mail, said) => {
    const page = await open('/');
    // The server of these tests has no mail server.
    await page.route(`${server.address}/`, async (route) => {
      const response = await route.fetch();
      const body = (await response.text()).replace('name="mail" content="outbox"', `name="mail" content="${mail}"`);
      await route.fulfill({ response, body });
    });
    await page.reload();
    await page.getByRole('button', { name: 'Forgot the password?' }).click();
    await page.getByLabel('Email').fill('nobody@example.com');
    await page.getByRole('button', { name: 'Send the link' }).click();
    await page.getByText(said).waitFor();
  });

  it('signs out another browser, ends other sessions by a new password, and signs out everywhere', async () => {
    const { page, email } = await asNewAccount('/account');
    const other = await newPage();
    await send(other.context(), '/v1/signin', { email, password });
    await other.goto(server.address);
    await other.getByRole('button', { name: 'Project: Shop' }).waitFor();

    const phone = await newPage();
    await send(phone.context(), '/v1/signin', { email, password });
    await page.reload();
    const browsers = page.getByRole('list', { name: 'Signed-in browsers' }).getByRole('listitem');
    await browsers.nth(2).waitFor();
    // The newest is the first.
    await browsers.first().getByRole('button').click();
    await browsers.nth(2).waitFor({ state: 'detached' });
    await phone.goto(server.address);
    await phone.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.getByLabel('Current password').fill('not this one at all');
    await page.getByLabel('New password').fill(otherPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Current password is not the password of this account').waitFor();
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill('short');
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByRole('alert').filter({ hasText: '12' }).waitFor();
    await page.getByLabel('New password').fill(otherPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed.').waitFor();
    await other.reload();
    await other.getByRole('heading', { name: 'Sign in' }).waitFor();

    await page.getByRole('button', { name: 'Sign out everywhere' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(otherPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Project: Shop' }).waitFor();
  });

  it('creates another project, renames it unless somebody else was first, and deletes it by its name', async () => {
    const { page } = await asNewAccount('/account');
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('alert').filter({ hasText: 'name' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Warehouse');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText(/^prj_live_sk_/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('button', { name: 'Open the project' }).click();
    await page.getByRole('button', { name: 'Project: Warehouse' }).waitFor();

    await page.goto(new URL('/settings', page.url()).href);
    const second = await page.context().newPage();
    await second.goto(page.url());
    for (const tab of [page, second]) await tab.getByRole('button', { name: 'Rename' }).waitFor();
    await second.getByLabel('Name', { exact: true }).fill('Depot');
    await second.getByRole('button', { name: 'Rename' }).click();
    await second.getByRole('button', { name: 'Project: Depot' }).waitFor();
    await page.getByLabel('Name', { exact: true }).fill('Store');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByText('Somebody else has changed').waitFor();
    await page.getByRole('button', { name: 'Show its present state' }).click();
    await page.getByRole('button', { name: 'Discard' }).click();
    await expect.poll(() => page.getByLabel('Name', { exact: true }).inputValue()).toBe('Depot');
    await page.getByLabel('Name', { exact: true }).fill('Store');
    await page.getByRole('button', { name: 'Rename' }).click();
    await page.getByRole('button', { name: 'Project: Store' }).waitFor();

    await page.getByRole('button', { name: 'Delete project' }).click();
    const dialog = page.getByRole('dialog');
    const confirm = dialog.getByRole('button', { name: 'Delete project' });
    await dialog.getByLabel('Name of the project').fill('Depot');
    expect(await confirm.isDisabled()).toBe(true);
    await dialog.getByLabel('Name of the project').fill('Store');
    expect(await seriousFindings(page)).toEqual([]);
    await confirm.click();
    await page.getByRole('button', { name: 'Project: Shop' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Project: Shop' }).waitFor();
  });

  // "Ask an owner for an invitation" was all that the dashboard said, also where the account may create a project.
  it('creates a project for an account without one, or says who may', async () => {
    const { page } = await asNewAccount('/settings');
    await page.getByRole('button', { name: 'Delete project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the project').fill('Shop');
    await dialog.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('heading', { level: 1, name: 'Create a project' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);

    // The page learns from the server's HTML whether sign-up is on.
    await page.route('**/keys', async (route) => {
      const response = await route.fetch();
      const html = await response.text();
      expect(html).toContain('name="sign-up" content="on"');
      await route.fulfill({
        response,
        body: html.replace('name="sign-up" content="on"', 'name="sign-up" content="off"'),
      });
    });
    await page.goto(`${server.address}/keys`);
    await page.getByText('While sign-up is off, only owners of a project create further ones.').waitFor();
    await page.unrouteAll();

    // The address names a project that is gone.
    await page.goto(`${server.address}/keys?project=000000000000000000000000`);
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('alert').filter({ hasText: 'Name' }).waitFor();
    await page.getByLabel('Name').fill('Second shop');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByText(/^prj_live_sk_/).waitFor();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('button', { name: 'Project: Second shop' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Getting started' }).waitFor();
  });

  // It had to belong to a project first, although a password that others know cannot wait.
  it('changes the password of an account without a project, and deletes it', async () => {
    const { page, email } = await asNewAccount('/settings');
    await page.getByRole('button', { name: 'Delete project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the project').fill('Shop');
    await dialog.getByRole('button', { name: 'Delete project' }).click();
    await page.getByRole('button', { name: 'Change the password' }).click();
    await page.getByRole('heading', { level: 1, name: 'Change the password' }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel('Current password').fill('not this one at all');
    await page.getByLabel('New password').fill(otherPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('Current password is not the password of this account').waitFor();
    await page.getByLabel('Current password').fill(password);
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Create a project' }).waitFor();

    await page.getByRole('button', { name: 'Delete the account' }).click();
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('Password is not the password of this account').waitFor();
    await page.getByLabel('Password').fill(otherPassword);
    await page.getByRole('button', { name: 'Delete account' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(otherPassword);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('the address or the password is wrong').waitFor();
  });

  // Only the last of two was confirmed.
  it('says of each browser that it is signed out, though another one follows at once', async () => {
    const { page, email } = await asNewAccount('/account');
    for (const name of ['Firefox', 'Safari']) {
      const other = await newPage({ userAgent: `${name}/1.0 (Windows)` });
      await send(other.context(), '/v1/signin', { email, password });
    }
    await page.reload();
    const [firefox, safari] = ['Firefox', 'Safari'].map((name) =>
      page.getByRole('button', { name: `Sign out ${name} on Windows` }),
    );
    await safari!.waitFor();
    let answer = (): void => {};
    const isDue = new Promise<void>((resolve) => {
      answer = resolve;
    });
    await page.route('**/v1/sessions/*', (route) => isDue.then(() => route.continue()));
    await firefox!.click();
    await safari!.click();
    answer();
    await Promise.all(
      ['Firefox', 'Safari'].map((name) => page.getByText(`${name} on Windows is signed out.`).waitFor()),
    );
  });

  // Browsers give pages without HTTPS no clipboard, and a page may be denied it. A press of Copy did nothing then.
  it('copies a key also where the browser has no clipboard for pages', async () => {
    const { page } = await asNewAccount('/account');
    await page.evaluate("Object.defineProperty(navigator, 'clipboard', { value: undefined })");
    await page.getByRole('button', { name: 'New project' }).click();
    await page.getByLabel('Name', { exact: true }).fill('Copied');
    await page.getByRole('button', { name: 'Create project' }).click();
    const key = await page.getByText(/^prj_test_sk_/).textContent();
    await page.getByRole('button', { name: 'Copy the test secret key' }).click();
    await page.getByRole('button', { name: 'Copied', exact: true }).waitFor();
    await page.getByRole('button', { name: 'Open the project' }).click();
    await page.getByRole('link', { name: 'Users' }).click();
    await page.getByRole('searchbox').first().focus();
    await page.keyboard.press('Control+V');
    await expect.poll(() => page.getByRole('searchbox').first().inputValue()).toBe(key);
  });

  // They stayed until the session was read again, up to a minute later.
  it('regression: loses the controls of an owner with the role, when the API refuses a change', async () => {
    const page = await asViewer('/settings');
    // The last owner stays one.
    await asViewer('/settings');
    const owner = await asOwner('/members');
    const headers = {
      Origin: server.address,
      'X-Fenceline-Project': server.project,
      'X-Fenceline-Environment': 'test',
    };
    const membersUrl = `${server.address}/v1/members`;
    const { members }: { members: { _id: string; email?: string }[] } = await (
      await owner.request.get(membersUrl, { headers })
    ).json();
    async function setRole({ _id }: { readonly _id: string }, role: string): Promise<void> {
      const answer = await owner.request.put(`${membersUrl}/${_id}`, { headers, data: { role } });
      expect(answer.status()).toBe(200);
    }
    const isViewer = ({ email = '' }: { readonly email?: string }) => email.startsWith('viewer-');
    const [first, last] = members.filter(isViewer).sort((one, other) => `${one.email}`.localeCompare(`${other.email}`));
    for (const member of [first, last]) await setRole(member!, 'owner');
    await page.reload();
    const rename = page.getByRole('button', { name: 'Rename' });
    await rename.waitFor();
    await setRole(first!, 'viewer');
    await page.getByLabel('Name', { exact: true }).fill('Mine');
    await rename.click();
    await rename.waitFor({ state: 'detached' });
  });

  // The menu went on below the screen, where neither a finger nor the keyboard could see its projects.
  it('shows each of its projects in the menu, also in a low window', async () => {
    const { page } = await asNewAccount('/keys');
    for (let count = 1; count < 14; count += 1)
      await send(page.context(), '/v1/account/projects', { name: `Shop ${count}` });
    await page.reload();
    await page.setViewportSize({ width: 740, height: 360 });
    await page.getByRole('button', { name: 'Project: Shop' }).click();
    await page.getByRole('menuitemradio').nth(13).waitFor();
    await page.keyboard.press('End');
    const isInSight = `{
      const { top, bottom } = document.activeElement.getBoundingClientRect();
      document.activeElement.role === 'menuitemradio' && top >= 0 && bottom <= innerHeight;
    }`;
    await expect.poll(() => page.evaluate(isInSight)).toBe(true);
  });

  it('is deleted only after its address was typed', async () => {
    const { page, email } = await asNewAccount('/account');
    await page.getByRole('button', { name: 'Delete account' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.getByRole('button', { name: 'Delete account' }).isDisabled()).toBe(true);
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByLabel('Password').fill('not this one at all');
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await dialog.getByText('Password is not the password of this account').waitFor();
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByText('the address or the password is wrong').waitFor();
  });

  // The second attempt was refused: the first one had ended the session, or the right, that it needs.
  it('knows a change whose answer was lost by the end of what allowed it', async () => {
    const { page, email } = await asNewAccount('/account');
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill(otherPassword);
    await twice(page, () => page.getByRole('button', { name: 'Change password' }).click());
    await page.getByText('The password is changed.').waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await page.getByLabel('New password').inputValue()).toBe('');

    await page.getByRole('link', { name: 'Settings of Shop' }).click();
    await page.getByRole('button', { name: 'Delete project' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the project').fill('Shop');
    await twice(page, () => dialog.getByRole('button', { name: 'Delete project' }).click());
    await page.getByText('Shop is deleted.').waitFor();
    await page.getByRole('heading', { level: 1, name: 'Create a project' }).waitFor();

    await page.getByLabel('Name').fill('Second shop');
    await page.getByRole('button', { name: 'Create project' }).click();
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.goto(new URL('/account', page.url()).href);
    await page.getByRole('button', { name: 'Delete account' }).click();
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByLabel('Password').fill(otherPassword);
    await twice(page, () => dialog.getByRole('button', { name: 'Delete account' }).click());
    await page.getByText('Your account is deleted.').waitFor();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  // The page said that the account is deleted.
  it('does not take the end of a session for the deletion of the account', async () => {
    const { page, email } = await asNewAccount('/account');
    await page.getByRole('button', { name: 'Delete account' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Email').fill(email);
    await dialog.getByLabel('Password').fill(password);
    await page.route('**/v1/account/delete', (route) => route.abort(), { times: 1 });
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await dialog.getByText('The server did not answer.').waitFor();
    await page.context().clearCookies();
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('The account is not deleted. Try again.').waitFor();
    await dialog.getByRole('button', { name: 'Delete account' }).click();
    await page.getByText('Your account is deleted.').waitFor();
  });

  // The other tabs showed the data of the account until somebody touched them, and then stayed at the sign-in.
  it('signs out and in in all tabs of a browser, and keeps what is typed in one of them', async () => {
    const { page, email } = await asNewAccount('/geofences');
    const [list, form] = [await page.context().newPage(), await page.context().newPage()];
    await list.goto(new URL('/webhooks', page.url()).href);
    await list.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await form.goto(new URL('/geofences/new', page.url()).href);
    await form.getByLabel('Description').fill('Typed before');
    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await list.getByText('Your session has ended.').waitFor();
    const dialog = form.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.waitFor();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await list.getByRole('heading', { level: 1, name: 'Webhooks' }).waitFor();
    await dialog.waitFor({ state: 'detached' });
    expect(await form.getByLabel('Description').inputValue()).toBe('Typed before');
  });

  // The answer 401 put the sign-in in the place of the form, and what was typed was gone.
  it('keeps what is typed when the session ends, and asks for the password again', async () => {
    const { page } = await asNewAccount('/geofences/new');
    const fields = { Description: 'Typed before', Tag: 'kept', 'External id': 'one', Latitude: '1', Longitude: '1' };
    for (const [label, value] of Object.entries(fields)) await page.getByLabel(label).fill(value);
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Create geofence' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session has ended' });
    await dialog.getByLabel('Password').fill('a wrong password');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await page.getByLabel('Description').inputValue()).toBe('Typed before');
    // It said that "the Authorization header has no key".
    await page.getByText('Your session had ended. Nothing was changed.').waitFor();
    await page.getByRole('button', { name: 'Create geofence' }).click();
    await page.getByRole('link', { name: 'Typed before' }).waitFor();
    // Signing out lost them without a question.
    await page.getByRole('link', { name: 'Typed before' }).click();
    await page.getByLabel('Description').fill('Typed again');
    await page.getByRole('button', { name: 'Account and appearance' }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('dialog', { name: 'Discard your changes?' }).getByRole('button', { name: 'Cancel' }).click();
    expect(await page.getByLabel('Description').inputValue()).toBe('Typed again');
    await page.getByRole('link', { name: 'Cancel' }).click();
    // So does the text of a dialog.
    await page.goto(`${server.address}/account`);
    await page.getByRole('button', { name: 'New project' }).click();
    const newProject = page.getByRole('dialog', { name: 'New project' });
    await newProject.getByLabel('Name').fill('Typed in a dialog');
    await page.context().clearCookies();
    await newProject.getByRole('button', { name: 'Create project' }).click();
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await newProject.getByLabel('Name').inputValue()).toBe('Typed in a dialog');
    await newProject.getByRole('button', { name: 'Cancel' }).click();
    // So do passwords, which were lost.
    await page.context().clearCookies();
    await page.getByLabel('Current password').fill(password);
    await page.getByLabel('New password').fill(otherPassword);
    await page.getByRole('button', { name: 'Change password' }).click();
    await dialog.getByLabel('Password').fill(password);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Your session had ended. Nothing was changed.').waitFor();
    await page.getByRole('button', { name: 'Change password' }).click();
    await page.getByText('The password is changed.').waitFor();
    // With nothing to lose, the sign-in takes the place of the view. This view asks for nothing by itself.
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Keys' }).click();
    await page.getByText('Publishable key').waitFor();
    await page.context().clearCookies();
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Webhooks' }).click();
    await page.getByText('Your session has ended.').waitFor();
    await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor();
  });
});
