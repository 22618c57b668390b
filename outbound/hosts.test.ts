/** Tests the hosts file by example, and against an oracle that reads one character at a time. */
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { maxAddresses, parseHosts } from './hosts.js';

test.each([
  ['one name', '10.0.0.1 receiver', { receiver: ['10.0.0.1'] }],
  [
    'several names, one of them in capitals',
    '10.0.0.1\treceiver  Hooks.Test',
    { receiver: ['10.0.0.1'], 'hooks.test': ['10.0.0.1'] },
  ],
  ['a name with a dot at the end', '10.0.0.1 receiver.test.', { 'receiver.test': ['10.0.0.1'] }],
  ['both versions, and one of them twice', '::1 a\n127.0.0.1 a\n::1 a', { a: ['::1', '127.0.0.1'] }],
  ['comments', '# all\n10.0.0.1 a # not b\n10.0.0.2 c#d\n#10.0.0.3 e', { a: ['10.0.0.1'], c: ['10.0.0.2'] }],
  ['as Windows writes it', '\uFEFF10.0.0.1 a\r\n\r\n10.0.0.2 b\r\n', { a: ['10.0.0.1'], b: ['10.0.0.2'] }],
  ['an address with a zone', 'fe80::1%lo0 a', { a: ['fe80::1%lo0'] }],
  ['an address without a name', '10.0.0.1', {}],
  ['what is not an address', '10.0.0 a\n10.0.0.1:80 b\n[::1] c\nd 10.0.0.1', {}],
  [
    'names that objects have',
    '10.0.0.1 __proto__ constructor',
    { ['__proto__']: ['10.0.0.1'], constructor: ['10.0.0.1'] },
  ],
])('%s', (_, text, expected) => {
  const found = [...parseHosts(text)].map(([name, entries]) => [name, entries.map(({ address }) => address)]);
  expect(Object.fromEntries(found)).toEqual(expected);
});

test('ignores further addresses of a name', () => {
  const text = Array.from({ length: maxAddresses + 1 }, (_, index) => `10.0.0.${index} a`).join('\n');
  const entries = parseHosts(text).get('a')!;
  expect(entries).toHaveLength(maxAddresses);
  expect(entries.at(-1)).toEqual({ address: `10.0.0.${maxAddresses - 1}`, family: 4 });
});

/** An oracle: reads the whole text for one name. */
function oracle(text: string, wanted: string): LookupAddress[] {
  const found: LookupAddress[] = [];
  let fields: string[] = [];
  let field = '';
  let isComment = false;
  for (const character of `${text}\n`) {
    const endsField = character === '\n' || character === '#' || character.trim() === '';
    if (!isComment && !endsField) field += character;
    if (endsField && field !== '') fields.push(field);
    if (endsField) field = '';
    if (character === '#') isComment = true;
    if (character !== '\n') continue;
    const [address = '', ...names] = fields;
    const isNamed = names.some((name) => (name.endsWith('.') ? name.slice(0, -1) : name).toLowerCase() === wanted);
    const isNew = found.every((entry) => entry.address !== address);
    if (isIP(address) !== 0 && isNamed && isNew && found.length < maxAddresses)
      found.push({ address, family: isIP(address) });
    fields = [];
    isComment = false;
  }
  return found;
}

test('matches the oracle', () => {
  const names = ['a', 'b', 'hooks.test', 'a.', '', '10.0.0.1'];
  const piece = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...names, 'A', 'a.', 'Hooks.Test', 'hooks.test.', '..', '.') },
    { weight: 4, arbitrary: fc.constantFrom('10.0.0.1', '10.0.0.2', '::1', 'fe80::1%eth0', '10.0.0.256', '10.1') },
    {
      weight: 8,
      arbitrary: fc.constantFrom(' ', '\t', '  ', '\n', '\r\n', '\r', '\f', '\u00A0', '\uFEFF', '#', '\u2028'),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 4 }) },
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      const hosts = parseHosts(text);
      for (const name of new Set([...names, ...hosts.keys()]))
        expect(hosts.get(name) ?? [], name).toEqual(oracle(text, name));
    }),
    { numRuns: 1_000 },
  );
});
