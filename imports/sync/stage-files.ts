/** Reads all files of a run into its folder, before any of them is imported. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { retryAfterDelay } from '../../outbound/retry-after.js';
import type { SyncRecord, SyncSeenFile } from '../../schemas/json/sync.js';
import { type Download, type DownloadParts, download, type RemoteFile } from './download.js';
import { type Credentials, objectUrl, signedHeaders } from './object-storage.js';
import { filesOf } from './record.js';

/** What the reading of files works with, and its bounds. */
export interface StagingParts extends DownloadParts {
  readonly clock: () => number;
  /** Ends the run when it aborts. */
  readonly signal: AbortSignal;
  /** Waits between attempts. Rejects when the node stops. */
  readonly pause: (ms: number) => Promise<void>;
  /** Of all files of a run together, on disk. */
  readonly maxBytes: number;
  /** Of all files of a run together, with all attempts. Later files fail. */
  readonly maxReadMs: number;
  /** Before each further attempt after a failure that may pass. */
  readonly retryDelaysMs: readonly number[];
}

/** What became of a file, with its name in the sync. */
export type StagedFile = Download & { readonly name: string };

function remoteFile(sync: SyncRecord, name: string, credentials: Credentials | null, clock: () => number): RemoteFile {
  if (sync.protocol === 'http') return { name, url: name };
  const { region, bucket, endpoint } = sync;
  if (region === null || bucket === null || credentials === null) throw new Error('a sync of s3 is incomplete');
  const url = objectUrl({ region, bucket, endpoint }, name);
  return { name, url, signing: { region, headers: () => signedHeaders(url, region, credentials, clock()) } };
}

/**
 * Returns the result of each file, in their order. Files after one that failed are read nevertheless, to report all.
 */
export async function stageFiles(
  parts: StagingParts,
  sync: SyncRecord,
  credentials: Credentials | null,
  folder: string,
): Promise<StagedFile[]> {
  const { clock, maxBytes, maxReadMs } = parts;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const limit = new AbortController();
  const untilMs = performance.now() + maxReadMs;
  const timer = setTimeout(() => limit.abort(), maxReadMs);
  const signal = AbortSignal.any([parts.signal, limit.signal]);
  let leftBytes = maxBytes;

  async function read(name: string, path: string): Promise<Download> {
    const seen = sync.seen.find((one) => one.name === name);
    const file = remoteFile(sync, name, credentials, clock);
    const result = await download({ ...parts, signal }, file, seen, { path, maxBytes: leftBytes });
    if (result.kind !== 'failed' || !limit.signal.aborted) return result;
    const message = `the files of the run were not all read within ${maxReadMs / 1_000} seconds`;
    return { kind: 'failed', message, isTemporary: false };
  }

  const staged: StagedFile[] = [];
  try {
    for (const [index, name] of filesOf(sync).entries()) {
      const result = await persistently(parts, untilMs, () => read(name, join(folder, `${index}`)));
      if (result.kind === 'staged') leftBytes -= result.bytes;
      staged.push({ name, ...result });
    }
  } finally {
    clearTimeout(timer);
  }
  return staged;
}

/** @param untilMs when the time of the run has passed, by `performance.now`. */
async function persistently(
  { pause, retryDelaysMs, clock }: Pick<StagingParts, 'pause' | 'retryDelaysMs' | 'clock'>,
  untilMs: number,
  attempt: () => Promise<Download>,
): Promise<Download> {
  for (const delayMs of retryDelaysMs) {
    const result = await attempt();
    if (result.kind !== 'failed' || !result.isTemporary) return result;
    const { retryAfter, message } = result;
    const wantedMs = (retryAfter === undefined ? undefined : retryAfterDelay(retryAfter, clock())) ?? 0;
    const waitMs = Math.max(delayMs, wantedMs);
    if (performance.now() + waitMs > untilMs) {
      if (wantedMs <= delayMs) return result;
      const seconds = Math.ceil(wantedMs / 1_000);
      return { ...result, message: `${message}, and wants no request for ${seconds} seconds: longer than the run has` };
    }
    await pause(waitMs);
  }
  return attempt();
}

/** Returns the files as they are now, for the next run: those whose rows are all stored. */
export function seenAfter(
  before: readonly SyncSeenFile[],
  staged: readonly StagedFile[],
  isApplied: (name: string) => boolean,
): SyncSeenFile[] {
  return staged.flatMap((file) => {
    if (file.kind === 'staged' && isApplied(file.name)) return [file.seen];
    const earlier = before.find(({ name }) => name === file.name);
    return file.kind === 'unchanged' && earlier ? [earlier] : [];
  });
}
