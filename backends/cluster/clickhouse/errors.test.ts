import { ClickHouseError } from '@clickhouse/client';
import { expect, test } from 'vitest';
import { PortError } from '../../../pipeline/errors.js';
import { isPassing, isUnreached, reasonOf } from './errors.js';

const answered = (type: string) => new ClickHouseError({ code: '1', type, message: type });
const ofDisk = (reason: string) =>
  new ClickHouseError({
    code: '75',
    type: 'CANNOT_WRITE_TO_FILE_DESCRIPTOR',
    message: `Cannot write to file data.bin: , errno: 28, strerror: ${reason}`,
  });
const failed = (code: string) => Object.assign(new Error(code), { code });

test.each([
  ['the server is busy', answered('TOO_MANY_SIMULTANEOUS_QUERIES'), { passing: true, unreached: false }],
  ['merges are behind', answered('TOO_MANY_PARTS'), { passing: true, unreached: false }],
  ['the table has lost its Keeper', answered('TABLE_IS_READ_ONLY'), { passing: true, unreached: false }],
  ['the server is stopping', answered('QUERY_WAS_CANCELLED'), { passing: true, unreached: false }],
  ['the user may only read now', answered('READONLY'), { passing: true, unreached: false }],
  [
    'the disk is full, and no space was reserved',
    ofDisk('No space left on device'),
    { passing: true, unreached: false },
  ],
  ['the disk is read-only', ofDisk('Read-only file system'), { passing: true, unreached: false }],
  ['the statement is wrong', answered('SYNTAX_ERROR'), { passing: false, unreached: false }],
  ['the rows are wrong', answered('CANNOT_PARSE_INPUT_ASSERTION_FAILED'), { passing: false, unreached: false }],
  ['the password is wrong', answered('AUTHENTICATION_FAILED'), { passing: false, unreached: false }],
  [
    'the password is wrong, and the server of 2018',
    new Error(
      'Code: 193, e.displayText() = DB::Exception: Wrong password for user fenceline, e.what() = DB::Exception',
    ),
    { passing: false, unreached: false },
  ],
  ['nobody listens', failed('ECONNREFUSED'), { passing: true, unreached: true }],
  ['the connection ended', failed('ECONNRESET'), { passing: true, unreached: true }],
  ['its name is not known now', failed('ENOTFOUND'), { passing: true, unreached: true }],
  ['a gateway answered', new Error('<html>502 Bad Gateway</html>'), { passing: true, unreached: true }],
  [
    'a query of the port was not answered',
    new PortError('unavailable', 'ClickHouse does not answer'),
    { passing: true, unreached: false },
  ],
  ['no answer came', new Error('Timeout error.'), { passing: true, unreached: false }],
  ['the certificate is not trusted', failed('SELF_SIGNED_CERT_IN_CHAIN'), { passing: false, unreached: false }],
  ['the certificate is for another name', failed('ERR_TLS_CERT_ALTNAME_INVALID'), { passing: false, unreached: false }],
  ['a mistake of ours', new TypeError('undefined is not a function'), { passing: false, unreached: false }],
])('%s', (_, error, { passing, unreached }) => {
  expect([isPassing(error), isUnreached(error)]).toEqual([passing, unreached]);
});

test('a page from a gateway is shortened', () => {
  expect(reasonOf(new Error('x'.repeat(10_000)))).toHaveLength(500);
});
