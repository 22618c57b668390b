/** The dashboard's import of files in Chromium: preview, check, application, bad rows, and history. */
import { mkdtemp, readFile, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { ok } from '../../support/client.js';
import {
  asMember,
  asOwner,
  asViewer,
  besideTablePx,
  isRunnable,
  seriousFindings,
  server,
  useDashboard,
} from './fixture.js';

useDashboard();

const header = 'description,type,tag,externalId,coordinates,radius';
const shop = (name: string, radius: number | string = 100) =>
  `Shop ${name},circle,shop,${name},"[11.25,43.77]",${radius}`;
const csv = (...rows: readonly string[]) => [header, ...rows, ''].join('\n');

const choose = (page: Page, name: string, content: string | Buffer) =>
  page
    .getByLabel('File', { exact: true })
    .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });

const longRows = 500_000;
let long: Buffer | undefined;

/** It takes many times as long as the page needs for its buttons, and is read only until then. */
function longFile(): Buffer {
  if (long) return long;
  const rows = Array.from({ length: longRows }, (_, index) => shop(`${index}`).replace(',shop,', ',long,'));
  long = gzipSync([header, ...rows, ''].join('\n'), { level: 1 });
  return long;
}

/** Drops a file, as from another window. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const dataTransfer = await page.evaluateHandle(`{
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    transfer;
  }`);
  const zone = page.locator('.drop-zone');
  await zone.dispatchEvent('dragover', { dataTransfer });
  await zone.dispatchEvent('drop', { dataTransfer });
}

const row = (page: Page, list: string, ...texts: readonly string[]) =>
  texts.reduce(
    (rows, hasText) => rows.filter({ hasText }),
    page.getByRole('region', { name: list, exact: true }).getByRole('row'),
  );

describe.runIf(isRunnable)('the import view', () => {
  it('shows what a file would change before it is applied, and that a repetition changes nothing', async () => {
    const backend = server.as('test_secret');
    const geofence = async (name: string) => (await backend.get(`/v1/geofences/shop/${name}`)).status;
    const page = await asOwner('/imports');
    await drop(page, 'shops.csv', csv(shop('a'), shop('b', 5), shop('c')));
    await page.getByText('6 columns, all recognised. 3 rows.').waitFor();
    await row(page, 'First rows', 'Shop c', '[11.25,43.77]').waitFor();
    await page.getByText('The shapes of all 3 rows').waitFor();
    await page.getByRole('button', { name: 'Check the file' }).click();
    await row(page, 'Bad rows', '3', 'radius', '5', 'must be a number from 10 to 10000 metres', 'shop').waitFor();
    await page.getByRole('radio', { name: 'Would be created 2' }).check();
    await row(page, 'Would be created', '2', 'shop', 'a').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(await geofence('a')).toBe(404);

    // The first request stays on its way until the upload is cancelled.
    let requests = 0;
    await page.route('**/v1/geofences/import?*', (route) => {
      requests += 1;
      if (requests > 1) return route.continue();
    });
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    expect(await geofence('a')).toBe(404);
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByRole('heading', { name: '2 rows applied' }).waitFor();
    expect(await geofence('a')).toBe(200);

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Bad rows as CSV' }).click(),
    ]);
    const corrected = (await readFile(await download.path(), 'utf8')).replace(',5,3,', ',50,3,');
    await page.getByRole('button', { name: 'Import another file' }).click();
    await choose(page, 'corrected.csv', `${corrected}${shop('a', 200)},,,\n`);
    await page.getByText('rejected.rule, ignored').waitFor();
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('radio', { name: 'Would be updated 1' }).check();
    await row(page, 'Would be updated', 'shop', 'a', 'radius').waitFor();
    await page.getByRole('button', { name: 'Import 2 rows' }).click();
    await page.getByRole('heading', { name: '2 rows applied' }).waitFor();
    expect(ok(await backend.get('/v1/geofences/shop/a')).geofence.geometryRadius).toBe(200);

    await page.getByRole('button', { name: 'Import another file' }).click();
    await choose(page, 'again.csv', csv(shop('a', 200), shop('b', 50)));
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('heading', { name: 'Nothing would change' }).waitFor();
  });

  it('says that a file has changed since it was chosen', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'import-'));
    const path = join(folder, 'changing.csv');
    await writeFile(path, csv(shop('a')));
    const page = await asOwner('/imports');
    await page.getByLabel('File', { exact: true }).setInputFiles(path);
    await page.getByText('6 columns, all recognised. 1 row.').waitFor();
    await writeFile(path, csv(shop('a'), shop('b')));
    // The browser compares whole seconds.
    const nextMinute = Date.now() / 1_000 + 60;
    await utimes(path, nextMinute, nextMinute);
    await page.getByRole('button', { name: 'Check the file' }).click();
    // It said that the server did not answer.
    await page.getByText('The file has changed. Choose it again.').waitFor();
    await rm(folder, { recursive: true });
  });

  // The upload waited without end. After Cancel, a second import repeated the one that had succeeded.
  it('ends an upload without an answer, and shows the import that it has started', async () => {
    const page = await asOwner('/imports');
    await page.clock.install();
    await choose(page, 'unanswered.csv', csv(shop('unanswered')));
    await page.getByRole('button', { name: 'Check the file' }).click();
    const apply = page.getByRole('button', { name: 'Import 1 row' });
    await apply.waitFor();
    const received = new Promise<void>((resolve) => {
      void page.route('**/v1/geofences/import?*', async (route) => {
        await route.fetch();
        resolve();
      });
    });
    await apply.click();
    await received;
    await page.clock.fastForward('02:01');
    await page.getByText('The server did not answer. Try again: what it has done already is not done twice.').waitFor();
    await apply.click();
    await page.getByRole('heading', { name: '1 row applied' }).waitFor();
    const { imports } = ok(await server.as('test_secret').get('/v1/imports?resource=geofences'));
    const isHere = ({ fileName, dryRun }: { fileName: string; dryRun: boolean }) =>
      fileName === 'unanswered.csv' && !dryRun;
    expect(imports.filter(isHere)).toHaveLength(1);
  });

  // The reason was beneath the first rows of the file, out of sight.
  it('says beside the file why the server, or a proxy, did not take it, and when the session has ended', async () => {
    const page = await asOwner('/imports');
    await choose(page, 'stopped.csv', csv(...Array.from({ length: 100 }, (_, index) => shop(`${index}`))));
    await page.getByText('100 rows').first().waitFor();
    const meta = { code: 503, type: 'unavailable', message: 'the server is stopping' };
    await page.route('**/import?*', (route) => route.fulfill({ status: 503, json: { meta } }));
    await page.getByRole('button', { name: 'Check the file' }).click();
    const alert = page.getByRole('region', { name: 'Chosen file' }).getByRole('alert');
    await alert.getByText('the server is stopping').waitFor();
    expect((await alert.boundingBox())!.y).toBeLessThan(400);

    // A proxy's answers had no reason, and one about the session left the page as it was.
    const answer = async (status: number, words: string) => {
      await page.route('**/import?*', (route) => route.fulfill({ status, contentType: 'text/html', body: '<html>' }));
      await page.getByRole('button', { name: 'Check the file' }).click();
      await page.getByText(words).waitFor();
    };
    await answer(413, 'This is larger than the server accepts, or a proxy in front of it.');
    await answer(502, 'The server did not answer. Try again: what it has done already is not done twice.');
    await answer(401, 'Your session has ended. Nothing was changed after that. Sign in again to go on.');
  });

  // Another account of the project that signed in on the page saw the file.
  it('keeps a file for the account that chose it, when the session ends', async () => {
    const { page, email } = await asMember('owner', '/imports');
    const { email: otherEmail } = await asMember('owner', '/imports');
    await choose(page, 'kept.csv', csv(shop('kept')));
    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Check the file' }).click();
    const signIn = async (email: string) => {
      await page.getByLabel('Email').fill(email);
      await page.getByLabel('Password').fill('correct horse battery');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByRole('heading', { level: 1, name: 'Import' }).waitFor();
    };
    await signIn(email);
    await page.getByRole('heading', { name: 'kept.csv' }).waitFor();
    expect(await page.getByRole('alert').getByText('Your session had ended').count()).toBe(0);
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('button', { name: 'Import 1 row' }).waitFor();

    await page.context().clearCookies();
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    await signIn(otherEmail);
    await page.getByRole('button', { name: 'Choose a file' }).waitFor();
  });

  it('names unknown and missing columns, and shows the line of a broken file', async () => {
    const page = await asOwner('/imports');
    await choose(page, 'typo.csv', csv(shop('a')).replace('radius', 'raduis').replace('externalId', 'id'));
    await page.getByText('These columns are not known: id, raduis').waitFor();
    await page.getByText('This column is required: externalId').waitFor();
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('heading', { name: 'The file was refused' }).waitFor();
    await page.getByText('Line 1: id is not a known column').waitFor();
    await page.getByRole('button', { name: 'Another file' }).click();
    await choose(page, 'quote.csv', csv(shop('a'), '"open'));
    await page.getByText('The row that begins on line 3 has a broken quote').waitFor();
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByText('Line 3: row has a quote that is never closed').waitFor();
  });

  it('stops a file that is being read, and says how far it was', async () => {
    const page = await asOwner('/imports');
    await choose(page, 'long.csv.gz', longFile());
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('heading', { name: /^Stopped (after line|before the first row)/ }).waitFor();
    await page.getByText('Check the file again to see all of it.').waitFor();
    await page.getByRole('region', { name: 'History' }).getByText('Stopped').waitFor();
    expect(ok(await server.as('test_secret').get('/v1/imports?resource=geofences')).imports[0].status).toBe(
      'interrupted',
    );
  });

  it('stops a file whose rows are being applied, and keeps those that were', async () => {
    const page = await asOwner('/imports');
    // A check of all rows would take longer than all else of the test.
    await page.route('**/v1/geofences/import?*dryRun=true*', (route) =>
      route.continue({ postData: gzipSync(csv(shop('applied'))) }),
    );
    await choose(page, 'long.csv.gz', longFile());
    await page.getByRole('button', { name: 'Check the file' }).click();
    await page.getByRole('button', { name: 'Import 1 row' }).click();
    const result = page.getByRole('region', { name: 'Result of the import' });
    await result.locator('dd').filter({ hasText: /[1-9]/ }).first().waitFor();
    await result.getByRole('button', { name: 'Stop' }).click();
    const heading = result.getByRole('heading', { name: /^Stopped after line/ });
    await heading.waitFor();
    await result.getByText('The rows before are applied.').waitFor();
    const line = Number(/[\d,]+/.exec((await heading.textContent())!)![0].replaceAll(',', ''));
    expect(line).toBeLessThan(longRows);
    // The first line is the header.
    expect(ok(await server.as('test_secret').get('/v1/geofences/count?tag=long')).count).toBe(line - 1);
  });

  it('keeps a file while another view is open, and lists all imports with their rows', async () => {
    const backend = server.as('test_secret');
    const sent = await backend.send('POST', '/v1/beacons/import?fileName=doors.csv', {
      body: [
        'description,type,uid,instance,coordinates',
        'Door,eddystone,00112233445566778899,aabbccddeeff,"[1,2]"',
        'Gate,eddystone,1,2,"[1,2]"',
      ].join('\n'),
      headers: { 'content-type': 'text/csv' },
    });
    expect(ok(sent).import).toMatchObject({ created: 1, rejected: 1 });
    const page = await asOwner('/imports');
    await page.getByRole('radio', { name: 'Beacons' }).check();
    await choose(page, 'kept.ndjson', '{"description":"Door","type":"eddystone","coordinates":[1,2]}\n');
    await page.getByText('Lines of JSON').waitFor();
    const history = page.getByRole('region', { name: 'History' });
    await history.getByRole('link', { name: 'doors.csv' }).waitFor();
    // The times were beside a narrow screen.
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await besideTablePx(history)).toBe(0);
    await history.getByRole('time').filter({ visible: true }).first().waitFor();
    await page.setViewportSize({ width: 1280, height: 800 });
    await history.getByRole('link', { name: 'doors.csv' }).click();
    await page.getByRole('heading', { name: '1 row applied' }).waitFor();
    await row(page, 'Bad rows', '3', 'uid').waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole('main').getByRole('link', { name: 'Import' }).click();
    await page.getByRole('heading', { name: 'kept.ndjson' }).waitFor();
    await page.getByRole('radio', { name: 'Live' }).check();
    await page.getByText('No imports of geofences yet').waitFor();
    await page.getByRole('heading', { name: 'Drop a file of geofences here' }).waitFor();
  });

  it('lets a viewer read the history and export, but not import', async () => {
    const page = await asViewer('/imports');
    await page.getByText('Only owners of the project import files.').waitFor();
    await page.getByRole('region', { name: 'History' }).waitFor();
    expect(await page.getByRole('button', { name: 'Choose a file' }).count()).toBe(0);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Export GeoJSON' }).click(),
    ]);
    expect(JSON.parse(await readFile(await download.path(), 'utf8')).type).toBe('FeatureCollection');
  });
});
