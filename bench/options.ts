/** Reads the command line of the bench. Pure. */
import { parseArgs } from 'node:util';
import { allSizes, type BenchOptions, type Size } from './case.js';

/** What the command line asks for. */
export type Command =
  | { readonly kind: 'help' | 'list' }
  | { readonly kind: 'problem'; readonly problem: string }
  /** `names` are the cases to run. */
  | {
      readonly kind: 'run';
      readonly names: readonly string[];
      readonly options: BenchOptions;
      readonly publish: boolean;
    }
  /** Draws the page of benchmarks from a stored file. */
  | { readonly kind: 'page'; readonly results: string };

interface Known {
  readonly cases: readonly string[];
  /** The cases of a smoke run. */
  readonly smoke: readonly string[];
  /** The cases whose figures `docs/benchmarks.md` shows. */
  readonly published: readonly string[];
  readonly peers: readonly string[];
}

const problem = (text: string): Command => ({ kind: 'problem', problem: text });

/** Reads the words after `npm run bench --`. A mistake is a command of kind `problem`. */
export function readCommand(args: readonly string[], { cases, smoke, published, peers }: Known): Command {
  const parsed = parse(args);
  if ('problem' in parsed) return problem(parsed.problem);
  const { values, positionals } = parsed;
  if (values.help) return { kind: 'help' };
  if (values.list) return { kind: 'list' };
  if (positionals.length > 0) return problem(`a case is named with an option: --case ${positionals[0]}`);
  if (values.page !== undefined) return { kind: 'page', results: values.page };

  const unknownCase = values.case?.find((name) => !cases.includes(name));
  if (unknownCase !== undefined) return problem(`unknown case ${unknownCase}; the cases are ${cases.join(', ')}`);
  const unknownPeer = values.peer?.find((name) => name !== 'all' && !peers.includes(name));
  if (unknownPeer !== undefined) return problem(`unknown peer ${unknownPeer}; the peers are ${peers.join(', ')}, all`);
  const size = values.size ?? (values.smoke ? 'smoke' : 'full');
  if (!isSize(size)) return problem(`--size is ${allSizes.join(', ')}, not ${size}`);
  const seed = Number(values.seed ?? 1);
  if (!Number.isSafeInteger(seed) || seed < 1) return problem('--seed requires a whole number from 1');
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined && !(minutes > 0)) return problem('--minutes requires a number above 0');
  if (values.publish && size === 'smoke') return problem('the figures of a smoke run are not published');

  return {
    kind: 'run',
    names: values.case ?? (size === 'smoke' ? smoke : values.publish ? published : cases),
    options: {
      smoke: size === 'smoke',
      size,
      peers: values.peer?.includes('all') ? peers : [...new Set(values.peer)],
      seed,
      staticmaps: values.staticmaps,
      minutes,
    },
    publish: values.publish ?? false,
  };
}

const isSize = (text: string): text is Size => (allSizes as readonly string[]).includes(text);

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        case: { type: 'string', multiple: true },
        peer: { type: 'string', multiple: true },
        size: { type: 'string' },
        smoke: { type: 'boolean' },
        seed: { type: 'string' },
        minutes: { type: 'string' },
        staticmaps: { type: 'string' },
        publish: { type: 'boolean' },
        page: { type: 'string' },
        list: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    });
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

/** What `--help` prints. */
export const help = `npm run bench -- [OPTION…]: measures Fenceline beside peers, stores figures in bench/results

  --case NAME          a case to run; may be repeated. Default: all
  --peer NAME          a peer to measure beside Fenceline; may be repeated, or all
  --size SIZE          smoke runs the short cases small, as a test of the bench; medium has a fifth of the fences
                       and devices of the cases of engines; full is the default
  --smoke              short for --size smoke
  --seed NUMBER        the seed of the workloads of engines. Default: 1
  --minutes NUMBER     the duration of the cases that run for any time
  --staticmaps FOLDER  a node_modules with the peer staticmaps, for the case maps
  --publish            writes docs/benchmarks.md and docs/measurements.md from this run, as far as they show its
                       cases. Default cases: those of docs/benchmarks.md
  --page FILE          writes them from a stored file, without a run
  --list               lists the cases and the peers, with what is missing here
  --help               shows this text`;
