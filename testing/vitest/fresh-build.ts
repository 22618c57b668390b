/** Fails a run of black-box tests whose compiled program is older than the sources. */
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const buildScript = fileURLToPath(new URL('../../build.mjs', import.meta.url));

/** Throws if the build is older than the sources, unless the tests run another program. */
export default function setup(): void {
  // These tests run another program, which was built elsewhere.
  if (process.env.PROGRAM_UNDER_TEST || process.env.DIST_UNDER_TEST) return;
  try {
    execFileSync(process.execPath, [buildScript, '--check'], { stdio: ['ignore', 'ignore', 'pipe'], encoding: 'utf8' });
  } catch (error) {
    throw new Error((error as { stderr?: string }).stderr?.trim() || String(error));
  }
}
