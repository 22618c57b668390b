/** Builds road data of an OpenStreetMap extract, with Valhalla's own program. */
import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Position } from '../../schemas/json/common.js';
import { tidyOnExit } from '../../schemas/tidy-on-exit.js';
import { valhallaConfig } from './config.js';
import { buildProgram, loadLibrary, notInstalled } from './package.js';
import { beginRoadData, publishRoadData } from './road-data.js';

interface BuildRequest {
  /** The extract, a PBF file. */
  readonly file: string;
  /** Of all road data. */
  readonly folder: string;
  /** Where the extract ends, as closed rings. */
  readonly boundary: readonly (readonly Position[])[];
  /** Date of the extract, epoch ms. */
  readonly roadDataAt: number | null;
  readonly nowMs: number;
  /** Ends the build. */
  readonly signal: AbortSignal;
}

type BuildResult = { readonly ok: true } | { readonly ok: false; readonly reason: string };

/**
 * Builds in a folder of its own. What was built before stays current until the new data is complete. Rejects with the
 * reason of the signal, once the program has ended and the folder is removed.
 */
export async function buildRoadData(request: BuildRequest): Promise<BuildResult> {
  const { file, folder, boundary, roadDataAt, nowMs, signal } = request;
  const program = buildProgram();
  if (program === undefined) return { ok: false, reason: notInstalled };
  const { VALHALLA_VERSION } = await loadLibrary();
  const building = await beginRoadData(folder, nowMs);
  const release = tidyOnExit(() => rmSync(building, { recursive: true, force: true, maxRetries }));
  try {
    const configFile = join(building, 'config.json');
    await writeFile(configFile, JSON.stringify(valhallaConfig(resolve(building), availableParallelism())));
    const failure = await run(program, ['-c', resolve(configFile), resolve(file)], building, signal);
    signal.throwIfAborted();
    if (failure !== undefined) return { ok: false, reason: `Valhalla could not read the extract: ${failure}` };
    for (const name of await readdir(building)) if (!isTiles(name)) await rm(join(building, name), { recursive: true });
    if ((await readdir(building)).length === 0) return { ok: false, reason: 'the extract has no roads' };
    const description = { source: basename(file), roadDataAt, builtAt: nowMs, version: VALHALLA_VERSION, boundary };
    await publishRoadData(folder, building, description);
    return { ok: true };
  } finally {
    await rm(building, { recursive: true, force: true });
    release();
  }
}

/** Attempts to remove a folder into which a program that is being killed still writes. */
const maxRetries = 10;

/** Levels of the hierarchy, the detailed roads last. */
const isTiles = (name: string): boolean => /^[0-9]$/.test(name);

const maxReasonCharacters = 500;

/** Returns the last of what a failing program said; undefined on success. */
const run = (
  program: string,
  args: readonly string[],
  folder: string,
  signal: AbortSignal,
): Promise<string | undefined> =>
  new Promise((resolve) => {
    // It writes notes into its working directory. It may be too busy to end by itself.
    const child = spawn(program, args, {
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal,
      killSignal: 'SIGKILL',
    });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => {
        said = (said + text.toString()).slice(-maxReasonCharacters);
      });
    // A program that could not start emits no `close`.
    child.on('error', ({ message }) => child.pid === undefined && resolve(message));
    child.on('close', (code, signal) =>
      resolve(code === 0 ? undefined : said.trim() || `it ended with ${signal ?? `status ${code}`}`),
    );
  });
