import { describe, expect, test } from 'vitest';
import { Failure } from '../client/call.js';
import { beginEdit, saveOver, unlessDone, withLoaded } from './edit.js';

/** What a form shows of its record. */
const draftOf = ({ threshold }: { readonly threshold: string }) => ({ threshold });
const state = (revision: string, threshold: string) => ({ meta: { revision }, threshold });
const opened = state('"r1"', '5');
const typed = { ...beginEdit(opened, draftOf), draft: { threshold: '7' } };

describe('a form that is open while its record is read again', () => {
  // A threshold was typed into the settings, then the project was renamed: both are in one record, whose other revision
  // put another form in place of the one with the threshold.
  test('keeps what is typed, and saves over the new revision, where it shows the same', () => {
    const renamed = state('"r2"', '5');
    expect(withLoaded(typed, renamed, draftOf)).toEqual({ opened: renamed, seen: renamed, draft: { threshold: '7' } });
  });

  test('keeps what is typed, and the revision, where somebody else has changed what it shows', () => {
    const changed = state('"r2"', '6');
    expect(withLoaded(typed, changed, draftOf)).toEqual({ opened, seen: changed, draft: { threshold: '7' } });
  });

  test('shows the new state if nothing is typed', () => {
    const changed = state('"r2"', '6');
    expect(withLoaded(beginEdit(opened, draftOf), changed, draftOf)).toEqual(beginEdit(changed, draftOf));
  });
});

describe('saving over a state that another one has replaced', () => {
  const changed = new Failure(412, { type: 'changed' });

  /** A record in its present state, which accepts only its own revision. */
  const recordOf = (present: ReturnType<typeof state>) => ({
    load: async () => present,
    async save(revision: string | undefined) {
      if (revision !== present.meta.revision) throw changed;
      return revision;
    },
  });

  // An invitation changes the project's record, which holds the settings. The form of the settings then said that
  // somebody else had changed them, and its way out discarded what was typed.
  test('succeeds where the form shows the same', async () => {
    expect(await saveOver(opened, draftOf, recordOf(state('"r2"', '5')))).toBe('"r2"');
  });

  test('is refused where the form shows something else', async () => {
    await expect(saveOver(opened, draftOf, recordOf(state('"r2"', '6')))).rejects.toBe(changed);
  });
});

// The answer to a save was lost. The next attempt met the form's own change, and said that somebody else had made it.
describe('an edit that another one came before', () => {
  const refused = () => Promise.reject(new Failure(412, {}));
  const load = async () => state('"r2"', '7');

  test('has succeeded where the record shows what it saves', async () => {
    expect(await unlessDone(refused(), load, ({ threshold }) => threshold === '7')).toEqual(state('"r2"', '7'));
  });

  test('is refused where the record shows something else', async () => {
    await expect(unlessDone(refused(), load, ({ threshold }) => threshold === '8')).rejects.toThrow(Failure);
  });
});
