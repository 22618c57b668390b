import { ReplyError } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { isPassing, withoutArguments } from './errors.js';

describe('another attempt may succeed', () => {
  test.each([
    new ReplyError('LOADING Redis is loading the dataset in memory'),
    new ReplyError("READONLY You can't write against a read only replica. script: 1f, on @user_script:5."),
    new ReplyError('MOVED 3999 127.0.0.1:6381'),
    new ReplyError('OOM command not allowed when used memory > maxmemory'),
    new Error('Connection is closed.'),
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
  ])('%s', (error) => expect(isPassing(error)).toBe(true));
});

describe('another attempt would fail as well', () => {
  test.each([
    new ReplyError('WRONGPASS invalid username-password pair or user is disabled.'),
    new ReplyError('ERR MOVED is not a command'),
    new ReplyError('NOPERM this user has no permissions'),
    Object.assign(new Error('certificate has expired'), { code: 'CERT_HAS_EXPIRED' }),
    new TypeError('a mistake of ours'),
    'no error',
  ])('%s', (error) => expect(isPassing(error)).toBe(false));
});

test('an error is passed on without the command', () => {
  const error = Object.assign(new ReplyError('ERR syntax error'), {
    command: { name: 'auth', args: ['user', 'secret'] },
  });
  expect(withoutArguments(error)).toBe(error);
  expect({ ...error }).not.toHaveProperty('command');
});
