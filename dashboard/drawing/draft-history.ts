/** The draft of a record with its history, for the form and the map alike. */
import { useCallback, useReducer, useRef } from 'react';
import { beginHistory, type History, type HistoryAction, reduceHistory } from './history';

/** The history of the draft of a form. */
export interface DraftHistory<Draft> {
  readonly history: History<Draft>;
  act(action: HistoryAction<Draft>): void;
  /** Takes a step of the form: letters of one field are one step of the history. */
  change(next: (draft: Draft) => Draft): void;
  /** Returns the draft after all actions so far: several events may come before the next render. */
  latest(): Draft;
}

/** Keeps the draft of a form with its history, from the first draft on. */
export function useDraftHistory<Draft>(first: () => Draft): DraftHistory<Draft> {
  const [history, dispatch] = useReducer(reduceHistory<Draft>, undefined, () => beginHistory(first()));
  const now = useRef(history);
  now.current = history;
  const latest = useCallback(() => now.current.present, []);
  const act = useCallback((action: HistoryAction<Draft>) => {
    now.current = reduceHistory(now.current, action);
    dispatch(action);
  }, []);
  const change = useCallback(
    (next: (draft: Draft) => Draft) => {
      const state = next(latest());
      act({ type: 'step', state, topic: changedFields(latest(), state) });
    },
    [act, latest],
  );
  return { history, act, change, latest };
}

/** Returns the names of the fields that differ. */
function changedFields(before: unknown, after: unknown): string {
  const [one, other] = [before as Record<string, unknown>, after as Record<string, unknown>];
  return Object.keys(other)
    .filter((name) => one[name] !== other[name])
    .join(' ');
}
