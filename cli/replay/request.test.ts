import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { projectRecord } from '../../pipeline/catalog/testing/fixtures.js';
import { deriveId } from '../../schemas/ids.js';
import { defaultSettings } from '../../schemas/json/project.js';
import { CommandFailure, UsageError } from '../command.js';
import { projectOf, readRequest, readSettingsFile } from './request.js';

const nowMs = Date.UTC(2026, 5, 1, 12);
const hourMs = 3_600_000;

describe('the words', () => {
  test('mean all that is held until now, live, where they say nothing', () => {
    expect(readRequest({}, nowMs, 'ndjson')).toEqual({
      range: { fromMs: Number.NEGATIVE_INFINITY, toMs: nowMs },
      warmUpMs: undefined,
      environment: 'live',
      format: 'ndjson',
    });
  });

  test('are taken as they are said', () => {
    const words = { from: '-2h', to: '2026-06-01T11:00Z', 'warm-up': '24h', environment: 'test', format: 'csv' };
    expect(readRequest(words, nowMs, 'summary')).toEqual({
      range: { fromMs: nowMs - 2 * hourMs, toMs: nowMs - hourMs },
      warmUpMs: 24 * hourMs,
      environment: 'test',
      format: 'csv',
    });
  });

  test.each([
    [{ from: 'yesterday' }, '--from must be a date'],
    [{ to: '2h' }, '--to must be a date'],
    [{ from: '-1h', to: '-2h' }, '--from must be before --to'],
    [{ 'warm-up': '-1h' }, '--warm-up must be a duration'],
    [{ environment: 'staging' }, '--environment must be one of test, live'],
    [{ format: 'xml' }, '--format must be one of summary, ndjson, csv'],
  ])('are refused: %j', (words, problem) => {
    expect(() => readRequest(words, nowMs, 'summary')).toThrow(UsageError);
    expect(() => readRequest(words, nowMs, 'summary')).toThrow(problem);
  });
});

describe('the project', () => {
  const [one, other] = ['one', 'other'].map((name) => projectRecord({ _id: deriveId(name), name }));

  test('is the one that is named, or the only one', () => {
    expect(projectOf([one!], undefined)).toBe(one);
    expect(projectOf([one!, other!], other!._id)).toBe(other);
  });

  test('is asked for where there are several, and must exist', () => {
    expect(() => projectOf([one!, other!], undefined)).toThrow(`${one!._id} (one), ${other!._id} (other)`);
    expect(() => projectOf([one!], other!._id)).toThrow('--project must be the id of a project');
    expect(() => projectOf([], undefined)).toThrow('no project yet');
  });
});

describe('a file of settings', () => {
  function given(text: string): string {
    const folder = mkdtempSync(join(tmpdir(), 'fenceline-settings-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'settings.json'), text);
    return join(folder, 'settings.json');
  }

  test('changes what it names', () => {
    const current = { ...defaultSettings, bufferExits: true };
    expect(readSettingsFile(given('{"dwellEvents":true}'), current)).toEqual({ ...current, dwellEvents: true });
  });

  test.each([
    ['{"dwellevents":true}', 'dwellevents: is not a known field; did you mean dwellEvents?'],
    ['[]', 'must be a JSON object'],
    ['{', 'JSON'],
  ])('is refused: %s', (text, problem) => {
    expect(() => readSettingsFile(given(text), defaultSettings)).toThrow(CommandFailure);
    expect(() => readSettingsFile(given(text), defaultSettings)).toThrow(problem);
  });

  test('must be there', () => {
    expect(() => readSettingsFile('nowhere/settings.json', defaultSettings)).toThrow(
      /--settings nowhere.settings.json: there is no such file/,
    );
  });
});
