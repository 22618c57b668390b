/**
 * Refuses LMDB files that the disk, a copy or a person has cut or overwritten. LMDB trusts its file: it would end the
 * process by a signal, without a word, or begin an empty file anew.
 *
 * Looks at the two headers of a file only. Each names the format and the first page of both trees. Damage beyond them
 * is not found, because reading whole files would delay each start by minutes.
 */
import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { StartError } from '../failures.js';

/** What helps when a file is damaged, by its folder, in the order in which a first start creates them. */
export const remedies = {
  log: 'restore a backup of the data folder',
  state: 'restore a backup of the data folder',
  deliveries: 'restore a backup of the data folder',
  'read-model': 'delete the folder read-model, which the next start makes again',
} as const;

const magic = 0xbeefc0de;
/** The layout of a header that is known here. */
const formatVersion = 2;
const metaPageFlag = 8;
const minPageBytes = 256;
const maxPageBytes = 65_536;
const noRoot = 0xffff_ffff_ffff_ffffn;
/** Bytes of a page up to the end of a header's roots. */
const headerBytes = 144;

interface Header {
  readonly version: number;
  readonly pageBytes: number;
  /** Numbers of the first pages of the trees; none of an empty tree. */
  readonly roots: readonly number[];
}

/** Throws a StartError that names the file and the remedy when the start of an LMDB file can't be what LMDB wrote. */
export function refuseDamagedFiles(data: string): void {
  for (const [folder, remedy] of Object.entries(remedies)) {
    const file = join(data, folder, 'data.mdb');
    const problem = damageOf(file);
    if (problem !== undefined) throw new StartError(`the file ${file} is damaged: ${problem}; ${remedy}`);
  }
  refuseLostFiles(data);
}

/** A first start creates the files in order. So one that is missing beside a later one was lost. */
function refuseLostFiles(data: string): void {
  const folders = Object.keys(remedies).map((folder) => join(data, folder));
  const hasFile = (folder: string): boolean => sizeOf(join(folder, 'data.mdb')) > 0;
  // A node of a cluster has only the read model.
  if (folders.find(hasFile) === join(data, 'read-model')) return;
  const lost = folders.find((folder, index) => !hasFile(folder) && folders.slice(index).some(hasFile));
  if (lost === undefined) return;
  const later = folders.slice(folders.indexOf(lost)).find(hasFile);
  const remedy = `${remedies.log}, or name an empty folder to begin anew`;
  throw new StartError(`the file ${join(lost, 'data.mdb')} is missing or empty, and ${later} is not: ${remedy}`);
}

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/** Returns why the start of a file can't be what LMDB wrote. Undefined if it can, or the file is missing or empty. */
export function damageOf(path: string): string | undefined {
  if (sizeOf(path) === 0) return undefined;
  const file = openSync(path, 'r');
  try {
    const first = readHeader(file, 0);
    const second = first && readHeader(file, first.pageBytes);
    // After the headers: a node that runs may enlarge the file and then name its new pages.
    const { size } = fstatSync(file);
    if (first === undefined || second === undefined) return 'it does not begin with two headers of LMDB';
    const headers = [first, second];
    if (headers.some(({ version }) => version !== formatVersion)) return undefined;
    // After a power cut one of them may be ahead of the file.
    const isCut = headers.every(({ pageBytes, roots }) => roots.some((root) => (root + 1) * pageBytes > size));
    return isCut ? `it ends after ${size} bytes, before pages that its headers name` : undefined;
  } finally {
    closeSync(file);
  }
}

/** Reads the header in the page that begins at `position`; undefined when there is none. */
function readHeader(file: number, position: number): Header | undefined {
  const page = Buffer.alloc(headerBytes);
  if (readSync(file, page, 0, headerBytes, position) < headerBytes) return undefined;
  const pageBytes = page.readUInt32LE(48);
  const isHeader = page.readUInt32LE(24) === magic && (page.readUInt16LE(18) & metaPageFlag) !== 0;
  if (!isHeader || pageBytes < minPageBytes || pageBytes > maxPageBytes) return undefined;
  const roots = [page.readBigUInt64LE(88), page.readBigUInt64LE(136)].filter((root) => root !== noRoot).map(Number);
  return { version: page.readUInt32LE(28), pageBytes, roots };
}
