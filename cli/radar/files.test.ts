/** Files that `fenceline migrate` reads, with everything that an editor, a cut or a wrong export makes of them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { CommandFailure } from '../command.js';
import { download } from './download.js';
import { deliveredEvents } from './events.js';

const folder = mkdtempSync(join(tmpdir(), 'fenceline-radar-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const event = { _id: '1', type: 'user.entered_geofence', createdAt: '2026-01-01T00:00:00.000Z' };

describe('a file of webhook bodies', () => {
  const file = join(folder, 'webhooks.ndjson');
  const read = (content: string | Uint8Array) => {
    writeFileSync(file, content);
    return deliveredEvents(file);
  };

  test.each([
    ['nothing', '', 0],
    ['a byte order mark', `\ufeff${JSON.stringify(event)}`, 1],
    ['line breaks of Windows and blank lines', `${JSON.stringify(event)}\r\n\r\n${JSON.stringify({ event })}\r\n`, 2],
    ['one body of several events', JSON.stringify({ events: [event, event], user: { userId: 'ada' } }), 2],
  ])('may have %s', async (_, content, count) => expect(await read(content)).toHaveLength(count));

  // Most of these printed a stack.
  test.each([
    ['null', 'null', 'line 1 of FILE must be a JSON object: null'],
    ['a list', `\n[${JSON.stringify(event)}]`, 'line 2 of FILE must be a JSON object: [{"_id":"1"'],
    ['a cut line', `${JSON.stringify(event)}\n{"_id":`, 'line 2 of FILE must be JSON: {"_id":'],
    ['a compressed file', gzipSync(JSON.stringify(event)), 'line 1 of FILE must be JSON: '],
    ['UTF-16', Buffer.from(JSON.stringify(event), 'utf16le'), 'line 1 of FILE must be JSON: '],
    ['an event that is null', '{"events":[null]}', 'line 1 of FILE: an event must be an object'],
    ['events that are no list', '{"events":{}}', 'line 1 of FILE: events must be a list'],
    ['an event without a date', '{"_id":"1","type":"a"}', 'line 1 of FILE: createdAt of an event must be a date'],
    ['an object that is no event', '{}', 'line 1 of FILE: _id of an event must be text'],
  ])('is refused with its line for %s', async (_, content, message) => {
    const failure = await read(content).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(CommandFailure);
    expect((failure as Error).message).toContain(message.replace('FILE', file));
  });

  test('is refused when a line never ends', async () => {
    await expect(read(' '.repeat(17_000_000))).rejects.toThrow(/line 1 of .* at most 16000000 characters/);
  });

  test.each([
    ['a folder', folder],
    ['no file', join(folder, 'none')],
  ])('is refused with its name when it is %s', async (_, path) => {
    await expect(deliveredEvents(path)).rejects.toEqual(
      expect.objectContaining({ message: expect.stringMatching(`^${path} can't be read: `) }),
    );
  });
});

describe('an interrupted download', () => {
  const list = {
    resource: 'geofences',
    time: 'updatedAt',
    fieldsOf: ({ _id }) => ({ tag: 'store', externalId: _id }),
  } as const satisfies Parameters<typeof download>[2];
  const row = (externalId: string) => JSON.stringify({ tag: 'store', externalId });

  /** Continues with what is on disk. Returns the rows, and the requests that Radar got. */
  async function continued(name: string, unfinished: string, cursor: string) {
    const file = join(folder, name);
    writeFileSync(`${file}.unfinished`, unfinished);
    writeFileSync(`${file}.unfinished.before`, cursor);
    const requests: string[] = [];
    const radar = createServer(({ url = '' }, response) => {
      requests.push(url);
      response.end(JSON.stringify({ geofences: ['a', 'b', 'c'].map((_id) => ({ _id })) }));
    });
    await new Promise<void>((listening) => radar.listen(0, '127.0.0.1', listening));
    onTestFinished(() => void radar.close());
    const address = `http://127.0.0.1:${(radar.address() as AddressInfo).port}`;
    const count = await download({ address, key: 'k', isRadar: true }, file, list);
    return { count, requests, rows: readFileSync(file, 'utf8') };
  }

  const all = ['a', 'b', 'c'].map((id) => `${row(id)}\n`).join('');
  const time = '2026-01-01T00:00:00.000Z';

  // It ended with a stack, each time, until somebody removed the file.
  test.each([
    ['within a line', `${row('a')}\n${row('b').slice(0, 12)}`],
    ['before the end of a line', `${row('a')}\n${row('b')}`],
    ['within the first line', '{'],
    ['between lines', `${row('a')}\n`],
  ])('continues after a cut %s', async (_, unfinished) => {
    const { count, requests, rows } = await continued('cut.ndjson', unfinished, time);
    expect({ count, rows }).toEqual({ count: 3, rows: all });
    expect(requests).toEqual([expect.stringContaining('updatedBefore=2026')]);
  });

  test('starts anew when the place of the next page was lost', async () => {
    const { count, requests, rows } = await continued('lost.ndjson', `${row('x')}\n`, '');
    expect({ count, rows }).toEqual({ count: 3, rows: all });
    expect(requests).toEqual([expect.not.stringContaining('updatedBefore')]);
  });
});
