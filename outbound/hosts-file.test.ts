/** Tests a hosts file that appears, changes and disappears. */
import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HostsFile, maxBytes } from './hosts-file.js';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hosts-'));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

const addressOf = (file: HostsFile, name: string) => file.current().get(name)?.[0]?.address;

test('is read again only when it has changed', () => {
  const path = join(folder(), 'hosts');
  const file = new HostsFile(path);
  const writtenAt = (text: string, seconds: number) => {
    writeFileSync(path, text);
    utimesSync(path, seconds, seconds);
  };

  expect(addressOf(file, 'a')).toBeUndefined();
  writtenAt('10.0.0.1 a', 1);
  const first = file.current();
  expect(addressOf(file, 'a')).toBe('10.0.0.1');
  expect(file.current()).toBe(first);
  writtenAt('10.0.0.2 a', 2);
  expect(addressOf(file, 'a')).toBe('10.0.0.2');
  writtenAt('10.0.0.2 a b', 2);
  expect(addressOf(file, 'b')).toBe('10.0.0.2');
  rmSync(path);
  expect(addressOf(file, 'a')).toBeUndefined();
  writtenAt('10.0.0.2 a b', 2);
  expect(addressOf(file, 'a')).toBe('10.0.0.2');
});

test('is empty when it cannot be read', () => expect(new HostsFile(folder()).current().size).toBe(0));

test('is read up to its bound, to the end of a line', () => {
  const path = join(folder(), 'hosts');
  const [first, cut] = ['10.0.0.1 first\n', '10.0.0.2 second.test\n'];
  const comment = '#'.padEnd(maxBytes - first.length - 'x\n10.0.0.2 second'.length, 'x');
  writeFileSync(path, `${first}${comment}\n${cut}`);
  expect([...new HostsFile(path).current().keys()]).toEqual(['first']);
});

test("is the system's by default", () => expect(new HostsFile().current().has('localhost')).toBe(true));
