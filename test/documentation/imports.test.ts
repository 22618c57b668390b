/** Runs the file, the command and the calls of docs/imports.md against a server. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { program } from '../support/program.js';
import { SharedServer } from '../support/shared-server.js';

const guide = readFileSync(new URL('../../docs/imports.md', import.meta.url), 'utf8');
const blockOf = (language: string): string =>
  new RegExp(`\\n\\n\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(guide)?.[1] ?? '';

const server = await SharedServer.newProject();
const env = { ...process.env, FENCELINE: server.address, SK: server.keys.test_secret };
const folder = mkdtempSync(join(tmpdir(), 'fenceline-imports-'));
afterAll(() => rmSync(folder, { recursive: true }));
writeFileSync(join(folder, 'stores.csv'), blockOf('csv'));

it('has a command that imports the file, and names the bad row', () => {
  const command = (file: string) =>
    blockOf('sh').replace('npm run fenceline --', `"${process.execPath}" "${program}"`).replace('stores.csv', file);
  const first = spawnSync('bash', ['-e', '-c', command('stores.csv')], { cwd: folder, env, encoding: 'utf8' });
  expect(first).toMatchObject({ status: 1, stdout: '', stderr: blockOf('') });

  const bad = readFileSync(join(folder, 'bad.csv'), 'utf8');
  writeFileSync(join(folder, 'corrected.csv'), bad.replace(',5,', ',50,'));
  const second = spawnSync('bash', ['-e', '-c', command('corrected.csv')], { cwd: folder, env, encoding: 'utf8' });
  expect(second).toMatchObject({
    status: 0,
    stdout: 'corrected.csv: 1 created, 0 updated, 0 unchanged, 0 rejected\n',
    stderr: '',
  });
});

it('has calls that import the file and list the imports', () => {
  const answers = blockOf('bash')
    .trim()
    .replaceAll('\\\n', ' ')
    .split('\n')
    .map((call) =>
      JSON.parse(execFileSync('bash', ['-e', '-c', `${call} -s`], { cwd: folder, env, encoding: 'utf8' })),
    );
  const nothing = 'nothing changed: 0 created, 0 updated, 2 unchanged, 1 rejected';
  expect(answers.slice(0, 3).map((answer) => answer.import.message)).toEqual([
    'nothing would change: 0 would be created, 0 would be updated, 2 unchanged, 1 rejected',
    nothing,
    nothing,
  ]);
  expect(answers[3].imports.map(({ fileName }: { fileName?: string }) => fileName)).toEqual([
    'stores.csv',
    undefined,
    undefined,
    'corrected.csv',
    'stores.csv',
  ]);
});
