import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  beginHistory,
  canRedo,
  canUndo,
  type History,
  type HistoryAction,
  maxSteps,
  reduceHistory,
} from './history.js';

type State = { readonly number: number };
let made = 0;
const newState = (): State => ({ number: made++ });
const actions: fc.Arbitrary<HistoryAction<State>> = fc.oneof(
  fc.record({
    type: fc.constant('step' as const),
    state: fc.constant(0).map(newState),
    topic: fc.constantFrom(undefined, 'radius', 'tag'),
  }),
  fc.record({ type: fc.constant('preview' as const), state: fc.constant(0).map(newState) }),
  fc.record({ type: fc.constantFrom('undo' as const, 'redo' as const) }),
);
const historyAfter = (all: readonly HistoryAction<State>[]): History<State> =>
  all.reduce<History<State>>(reduceHistory, beginHistory(newState()));
const step = (state: State, topic?: string) => ({ type: 'step', state, topic }) as const;

describe('the history of a drawing', () => {
  test('undo after any steps gives each earlier state, and redo gives each later one', () => {
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 30 }), fc.integer({ min: 1, max: 12 }), (before, count) => {
        let history = historyAfter(before);
        const states = [history.present];
        for (let index = 0; index < count; index++) {
          const state = newState();
          history = reduceHistory(history, step(state, `${index}`));
          states.push(state);
        }
        // A preview at the end of what came before belongs to the first step.
        const first = historyAfter(before).topic === ' preview' ? 1 : 0;
        for (let index = count - 1; index >= first; index--) {
          history = reduceHistory(history, { type: 'undo' });
          expect(history.present).toBe(states[index]);
        }
        for (let index = first + 1; index <= count; index++) {
          history = reduceHistory(history, { type: 'redo' });
          expect(history.present).toBe(states[index]);
        }
      }),
    );
  });

  test('undo and redo take each other back, and nothing is done where nothing is left', () => {
    fc.assert(
      fc.property(fc.array(actions, { maxLength: 40 }), (before) => {
        const history = historyAfter(before);
        const undone = reduceHistory(history, { type: 'undo' });
        const redone = reduceHistory(history, { type: 'redo' });
        if (canUndo(history)) expect(reduceHistory(undone, { type: 'redo' })).toMatchObject(part(history));
        else expect(undone).toBe(history);
        if (canRedo(history)) expect(reduceHistory(redone, { type: 'undo' })).toMatchObject(part(history));
        else expect(redone).toBe(history);
      }),
    );
  });

  test('the steps of one topic in a row are one, and a drag with its previews is one', () => {
    const [first, ...states] = Array.from({ length: 6 }, newState) as [State, ...State[]];
    let history = beginHistory(first);
    for (const [index, topic] of ['radius', 'radius', 'tag'].entries())
      history = reduceHistory(history, step(states[index]!, topic));
    expect(history.past).toEqual([first, states[1]]);
    for (const state of states.slice(3)) history = reduceHistory(history, { type: 'preview', state });
    const dropped = newState();
    history = reduceHistory(history, step(dropped));
    expect(history.past).toEqual([first, states[1], states[2]]);
    expect(history.present).toBe(dropped);
  });

  test('only the last steps are kept', () => {
    const history = historyAfter(Array.from({ length: maxSteps + 50 }, () => step(newState())));
    expect(history.past).toHaveLength(maxSteps);
  });
});

const part = ({ past, present, future }: History<State>) => ({ past, present, future });
