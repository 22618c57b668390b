/** Checks what Fenceline needs of the machine: Node, the platform, and native modules. */
import { isChdbInstalled } from '../../backends/embedded/chdb-package.js';
import type { Configuration } from '../config/schema.js';
import { hasRoleApi } from '../named-files.js';
import { thisPlatform, unsupportedReason } from '../platform.js';
import { version } from '../version.js';
import { type Finding, findingsAbout } from './finding.js';

const { ok, warning, failure } = findingsAbout('machine');

interface NativeModule {
  readonly name: string;
  readonly purpose: string;
  readonly load: () => Promise<unknown>;
}
const lmdb: NativeModule = { name: 'lmdb', purpose: 'the log and the configuration', load: () => import('lmdb') };
const chdb: NativeModule = { name: 'chdb', purpose: 'analytics', load: () => import('chdb') };
const drawing: readonly NativeModule[] = [
  { name: '@napi-rs/canvas', purpose: 'maps', load: () => import('@napi-rs/canvas') },
  { name: 'sharp', purpose: 'maps', load: () => import('sharp') },
];

/** Yields findings about the parts that the configured backend and roles need. */
export async function* checkMachine(configuration: Configuration): AsyncGenerator<Finding> {
  const unsupported = unsupportedReason(thisPlatform);
  if (unsupported !== undefined) yield failure(unsupported.problem, unsupported.remedy);
  else yield ok(`Fenceline ${version}, Node ${process.versions.node}, ${process.platform} ${process.arch}`);

  const isEmbedded = configuration.backend === 'embedded';
  if (isEmbedded && !isChdbInstalled)
    yield warning(
      'analytics are missing: the optional package chdb is not installed',
      'If queries of history are wanted, run "npm install chdb" where Fenceline is installed, ' +
        'or use the image whose tag ends with -analytics.',
    );
  const needed = [
    lmdb,
    ...(isEmbedded && isChdbInstalled ? [chdb] : []),
    ...(hasRoleApi(configuration) ? drawing : []),
  ];
  const failed: Finding[] = [];
  for (const { name, purpose, load } of needed) {
    try {
      await load();
    } catch (error) {
      const [reason = ''] = (error as Error).message.split('\n');
      failed.push(failure(`${name}, which ${purpose} need, can't be loaded: ${reason}`, reinstall));
    }
  }
  if (failed.length > 0) yield* failed;
  else yield ok(`native modules load: ${needed.map(({ name }) => name).join(', ')}`);
}

const reinstall =
  'Run "npm ci" on this machine, with optional packages. node_modules of another platform cannot be copied.';
