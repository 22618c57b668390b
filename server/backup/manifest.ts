/**
 * The description of a backup: `backup.json` in its folder. It is written last, so a backup without it is unfinished.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { parsedJson } from '../../schemas/parsed-json.js';
import { StartError } from '../failures.js';
import { flush, flushAll } from './flush.js';

const manifestFile = 'backup.json';
/** Raised when an older release could not restore what a newer one writes. */
const format = 1;

const BackedUpFile = Type.Object({
  path: Type.String(),
  bytes: Type.Integer({ minimum: 0 }),
  sha256: Type.String({ pattern: '^[0-9a-f]{64}$' }),
});

const Manifest = Type.Object({
  format: Type.Literal(format),
  /** Release that made the backup. */
  version: Type.String(),
  /** What was acknowledged before this time is in the backup. ISO 8601, like the next. */
  startedAt: Type.String(),
  finishedAt: Type.String(),
  /** SHA-256 of the key that the backup needs; null if it was unknown. */
  encryptionKeySha256: Type.Union([Type.String(), Type.Null()]),
  includesKeys: Type.Boolean(),
  /** Positions of the analytics sink as of its tables, in the form of the store. */
  sinkPositions: Type.Record(Type.String(), Type.String()),
  tables: Type.Array(Type.Object({ name: Type.String({ pattern: '^\\w+$' }), create: Type.String() })),
  files: Type.Array(BackedUpFile),
});
export type Manifest = Static<typeof Manifest>;
type BackedUpFile = Static<typeof BackedUpFile>;

/** Describes every file of the folder. */
async function describeFiles(folder: string): Promise<BackedUpFile[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files: BackedUpFile[] = [];
  for (const entry of entries.filter((each) => each.isFile())) {
    const full = join(entry.parentPath, entry.name);
    const path = relative(folder, full).split(sep).join('/');
    if (path === manifestFile) continue;
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of createReadStream(full)) {
      hash.update(chunk as Buffer);
      bytes += (chunk as Buffer).length;
    }
    files.push({ path, bytes, sha256: hash.digest('hex') });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Completes the backup in `folder`, and writes all of it to disk. Returns its manifest. */
export async function writeManifest(
  folder: string,
  given: Omit<Manifest, 'format' | 'finishedAt' | 'files'>,
): Promise<Manifest> {
  const files = await describeFiles(folder);
  await flushAll(folder);
  const manifest: Manifest = { format, ...given, finishedAt: new Date().toISOString(), files };
  await writeFile(join(folder, manifestFile), `${JSON.stringify(manifest, undefined, 2)}\n`, { flush: true });
  await flush(folder);
  return manifest;
}

/** Throws a StartError if the folder is not a complete backup, or one that this release can't read. */
async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, manifestFile), 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT'
      ? new StartError(`${folder} has no ${manifestFile}: it is not a backup, or an unfinished one`)
      : error;
  });
  const manifest = parsedJson(text);
  if (Compile(Manifest).Check(manifest)) return manifest;
  const found = (manifest as { format?: unknown } | undefined)?.format;
  throw new StartError(
    found !== undefined && found !== format
      ? `${folder} has format ${found}, this release reads ${format}: restore it with the release that made it`
      : `${manifestFile} of ${folder} is damaged`,
  );
}

/** Compares the files of a backup with its manifest. Throws a StartError that names those that differ. */
export async function verifiedManifest(folder: string): Promise<Manifest> {
  const manifest = await readManifest(folder);
  const found = new Map((await describeFiles(folder)).map((file) => [file.path, file]));
  const damaged = manifest.files.filter(({ path, bytes, sha256 }) => {
    const file = found.get(path);
    return file?.bytes !== bytes || file.sha256 !== sha256;
  });
  const expected = new Set(manifest.files.map(({ path }) => path));
  const unknown = [...found.keys()].filter((path) => !expected.has(path));
  if (damaged.length + unknown.length === 0) return manifest;
  const names = [...damaged.map(({ path }) => path), ...unknown].slice(0, 5).join(', ');
  throw new StartError(
    `${folder} is damaged: ${damaged.length} files are missing or differ, ${unknown.length} are foreign (${names})`,
  );
}
