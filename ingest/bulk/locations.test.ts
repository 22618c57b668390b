import { isUtf8 } from 'node:buffer';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Receipt } from '../../http/location/request.js';
import { LineSplitter, maxLineBytes } from './line-splitter.js';
import { readBulkLine } from './locations.js';

const receipt: Receipt = {
  project: 'p',
  environment: 'live',
  receivedAt: 1_750_000_000_000,
  ip: null,
  replayed: false,
  replyTo: null,
};
const good = { deviceId: 'd', latitude: 1, longitude: 2, accuracy: 3 };
const outcome = (value: unknown) => {
  const result = readBulkLine(typeof value === 'string' ? value : JSON.stringify(value), receipt);
  return result.ok ? result.value : `${result.problem.param}: ${result.problem.rule}`;
};

describe('a line', () => {
  it.each([
    [good, { deviceId: 'd', ip: null, details: null }],
    [{ ...good, ip: '::FFFF:192.0.2.7' }, { ip: '192.0.2.7' }],
    [{ ...good, ip: 'fe80::1%eth0' }, { ip: 'fe80::1' }],
    [`${JSON.stringify(good)}\r`, { deviceId: 'd' }],
  ])('%j', (line, expected) => {
    expect(outcome(line)).toMatchObject(expected);
  });

  it.each([
    ['{"deviceId":', 'line: must be a JSON object: column 13: expected a value, not the end'],
    ['[]', 'line: must be a JSON object'],
    ['null', 'line: must be a JSON object'],
    ['7', 'line: must be a JSON object'],
    [{ ...good, accuracy: undefined, deviceType: 'Web' }, 'accuracy: is required'],
    [{ ...good, latitude: 91 }, 'latitude: must be a number from -90 to 90'],
    [{ ...good, ip: '300.1.1.1' }, 'ip: must be an IP address'],
    [{ ...good, ip: {} }, 'ip: must be an IP address'],
  ])('%j -> %s', (line, expected) => {
    expect(outcome(line)).toBe(expected);
  });
});

describe('a stream as lines', () => {
  /** The slow, obvious oracle: text after the last line break is a line unless it is empty. */
  function oracle(latin1: string): string[] {
    const lines = latin1.split('\n');
    if (lines.at(-1) === '') lines.pop();
    return lines.map((line) => {
      const bytes = Buffer.from(line, 'latin1');
      if (bytes.length > maxLineBytes) return 'line: must have at most 64 KiB';
      return isUtf8(bytes) ? bytes.toString() : 'line: must be UTF-8';
    });
  }

  it('is the same however it is cut', () => {
    const line = fc.oneof(
      fc.string({ maxLength: 20, unit: 'grapheme' }),
      fc.constantFrom(
        'x'.repeat(maxLineBytes),
        'x'.repeat(maxLineBytes + 1),
        'é'.repeat(maxLineBytes / 2 + 1),
        '\r',
        '',
      ),
    );
    const utf8 = line.map((text) => Buffer.from(text).toString('latin1'));
    const broken = fc.constantFrom('\xff', 'a\xed\xa0\x80', '\xe2\x82', `\xff${'x'.repeat(maxLineBytes)}`);
    const cuts = fc.array(fc.nat({ max: 150_000 }), { maxLength: 8 });
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 4, arbitrary: utf8 }, broken), { maxLength: 6 }),
        cuts,
        (lines, positions) => {
          const text = lines.map((one) => one.replaceAll('\n', '')).join('\n');
          const bytes = Buffer.from(text, 'latin1');
          const splitter = new LineSplitter();
          const ends = [...positions.filter((position) => position < bytes.length), bytes.length].sort((a, b) => a - b);
          const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
          const found = [...chunks.flatMap((chunk) => splitter.push(chunk)), ...splitter.end()];
          const told = found.map((one) => (typeof one === 'string' ? one : `${one.param}: ${one.rule}`));
          expect(told).toEqual(oracle(text));
        },
      ),
    );
  });
});
