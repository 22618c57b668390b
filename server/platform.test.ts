import { describe, expect, test } from 'vitest';
import { type Platform, thisPlatform, unsupportedReason } from './platform.js';

const supported: Platform = { nodeVersion: '20.19.0', system: 'linux', processor: 'x64', hasGlibc: () => true };

describe('a platform', () => {
  test.each<[string, Partial<Platform>]>([
    ['the oldest Node', {}],
    ['a newer Node', { nodeVersion: '24.1.0' }],
    ['arm64', { processor: 'arm64' }],
    ['macOS, which is not asked for glibc', { system: 'darwin', processor: 'arm64', hasGlibc: () => false }],
    ['the one of this test', thisPlatform],
  ])('is supported: %s', (_, given) => expect(unsupportedReason({ ...supported, ...given })).toBeUndefined());

  test.each<[string, Partial<Platform>, RegExp]>([
    ['Node 18', { nodeVersion: '18.20.4' }, /^Node 18.20.4 is older than 20.19\. Install Node 20.19 or newer\.$/],
    ['an older minor version of Node', { nodeVersion: '20.18.3' }, /Node 20.18.3 is older/],
    ['Windows', { system: 'win32' }, /does not run on win32\. Use Linux in WSL/],
    ['FreeBSD', { system: 'freebsd' }, /does not run on freebsd\. Use Linux or macOS/],
    ['a 32-bit Node', { processor: 'arm' }, /processor arm\. Use a 64-bit Node/],
    ['musl', { hasGlibc: () => false }, /does not run on musl\. Use a distribution with glibc/],
  ])('is refused in one line that says what to do: %s', (_, given, line) => {
    const { problem, remedy } = unsupportedReason({ ...supported, ...given })!;
    expect(`${problem}. ${remedy}`).toMatch(line);
    expect(`${problem}${remedy}`).not.toContain('\n');
  });
});
