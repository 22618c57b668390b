/** Says whether Fenceline can run on a platform, before anything native is loaded. */

const oldestNode = { major: 20, minor: 19 };

/** Processors for which all native packages are built, by the name of the system in Node. */
const processors: Readonly<Record<string, readonly string[]>> = { linux: ['x64', 'arm64'], darwin: ['x64', 'arm64'] };

/** What decides whether the native packages run here. */
export interface Platform {
  /** Without the leading v. */
  readonly nodeVersion: string;
  /** As in `process.platform`. */
  readonly system: string;
  /** As in `process.arch`. */
  readonly processor: string;
  /** Whether the C library is glibc. Only asked on Linux. */
  readonly hasGlibc: () => boolean;
}

/** The platform of this process. */
export const thisPlatform: Platform = {
  nodeVersion: process.versions.node,
  system: process.platform,
  processor: process.arch,
  hasGlibc() {
    const report = process.report.getReport() as { readonly header?: { readonly glibcVersionRuntime?: string } };
    return report.header?.glibcVersionRuntime !== undefined;
  },
};

/** Why the platform cannot run the server, and what helps. */
interface Unsupported {
  readonly problem: string;
  readonly remedy: string;
}

/** Returns why Fenceline can't run on a platform; undefined if it can. */
export function unsupportedReason({ nodeVersion, system, processor, hasGlibc }: Platform): Unsupported | undefined {
  const [major = 0, minor = 0] = nodeVersion.split('.').map(Number);
  const oldest = `${oldestNode.major}.${oldestNode.minor}`;
  if (major < oldestNode.major || (major === oldestNode.major && minor < oldestNode.minor))
    return { problem: `Node ${nodeVersion} is older than ${oldest}`, remedy: `Install Node ${oldest} or newer.` };
  const supported = processors[system];
  if (supported === undefined)
    return {
      problem: `Fenceline does not run on ${system}`,
      remedy: system === 'win32' ? 'Use Linux in WSL 2 or in a container.' : 'Use Linux or macOS.',
    };
  if (!supported.includes(processor))
    return {
      problem: `Fenceline does not run on ${system} with processor ${processor}`,
      remedy: `Use a 64-bit Node on ${supported.join(' or ')}.`,
    };
  if (system === 'linux' && !hasGlibc())
    return {
      problem: 'Fenceline does not run on musl',
      remedy: 'Use a distribution with glibc, such as Debian. Alpine has musl.',
    };
  return undefined;
}
