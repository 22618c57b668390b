/**
 * The waits of deploy/rehearse-restore.sh, on a program that answers as a node and its ClickHouse would. Clusters
 * rehearse for real.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { freePorts } from '../../testing/services/ports.js';

const script = fileURLToPath(new URL('../../deploy/rehearse-restore.sh', import.meta.url));

/** Runs the script. `answer` is the body of a function that answers a request for `url`. */
async function rehearse(answer: string, limits: NodeJS.ProcessEnv) {
  const folder = await mkdtemp(join(tmpdir(), 'fenceline-rehearsal-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const program = join(folder, 'program.mjs');
  await writeFile(
    program,
    `import { createServer } from 'node:http';
    let calls = 0;
    if (process.argv[2] === 'serve')
      createServer(({ url }, response) => { ${answer} }).listen(Number(process.env.FENCELINE_PORT), '127.0.0.1');`,
  );
  const [port] = await freePorts(1);
  const environment = {
    FENCELINE: `${process.execPath} ${program}`,
    FENCELINE_PORT: `${port}`,
    FENCELINE_CLICKHOUSE_URL: `http://127.0.0.1:${port}`,
    ...limits,
  };
  return promisify(execFile)(script, [folder], { env: { ...process.env, ...environment } });
}

const tablesExist = `if (url.includes('schema_migrations')) return response.end('1');`;

const backlogOf = (records: string): string => `${tablesExist}
  response.end(url === '/metrics' ? 'fenceline_location_backlog_records ' + (${records}) + '\\n' : '');`;

// It waited forever.
it('fails when the backlog does not shrink', async () => {
  await expect(rehearse(backlogOf('5'), { STALL_S: '2' })).rejects.toMatchObject({
    code: 1,
    stderr: "the rehearsal failed: the backlog of 5 locations has not shrunk for 2 s; the node's log is above\n",
  });
});

it('fails when the node does not become ready', async () => {
  await expect(rehearse('response.writeHead(503).end()', { READY_S: '2' })).rejects.toMatchObject({
    code: 1,
    stderr: 'the rehearsal failed: the node is not ready after 2 s; its log is above\n',
  });
});

// A node is ready before its tables exist. The rows were refused then.
it('waits for the tables, and fails without them', async () => {
  const tablesAfter = (attempts: string): string =>
    `if (url.includes('schema_migrations') && calls++ < ${attempts}) return response.writeHead(404).end();` +
    backlogOf('0');
  const { stdout } = await rehearse(tablesAfter('2'), { READY_S: '30' });
  expect(stdout).toMatch(/the restored cluster has evaluated every location of its log\n$/);
  await expect(rehearse(tablesAfter('Infinity'), { READY_S: '2' })).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/the rehearsal failed: the node has not created its tables after 2 s; .*\n$/),
  });
});

it('waits on while the backlog shrinks, for longer than the limit', async () => {
  const { stdout } = await rehearse(backlogOf('Math.max(0, 6 - calls++)'), { STALL_S: '4' });
  expect(stdout).toMatch(/the restored cluster has evaluated every location of its log\n$/);
});
