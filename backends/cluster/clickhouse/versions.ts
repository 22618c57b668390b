/** Which servers our tables and views are right on. */

/**
 * Since 24.10 a view is replaced at once, so that queries beside a migration find it; since 25.4 FINAL reaches every
 * shard of a Distributed table.
 * 25.8 is the first release after both that is supported for long.
 */
const oldest = { major: 25, minor: 8 };

export function isTooOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < oldest.major || (major === oldest.major && minor < oldest.minor);
}

export const tooOldReason = (version: string): string =>
  `it is version ${version}, and ${oldest.major}.${oldest.minor} is the oldest that will do`;
