/** The supported versions of ClickHouse. */

/**
 * Since 24.10 views are replaced atomically, so that queries during a migration find them. Since 25.4 FINAL applies to
 * every shard of a Distributed table. 25.8 is the first long-term release after both.
 */
const oldest = { major: 25, minor: 8 };

/** Returns whether a version such as `25.3.1` is older than all supported ones. */
export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest.major || (major === oldest.major && minor < oldest.minor);
}

/** Returns the end of a message: what is wrong with a version. */
export const tooOldReason = (version: string): string =>
  `it is version ${version}, but ${oldest.major}.${oldest.minor} is the oldest that is supported`;
