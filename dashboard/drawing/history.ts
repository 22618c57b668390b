/** What was drawn, step by step. Pure: every change returns another history. */

export interface History<State> {
  readonly past: readonly State[];
  readonly present: State;
  readonly future: readonly State[];
  /** What the last step was about; undefined: the next step stands for itself. */
  readonly topic: string | undefined;
}

/** A change of a history, or a step back or forth in it. */
export type HistoryAction<State> =
  | { readonly type: 'begin'; readonly state: State }
  /** Steps about one topic in a row are one step, as the letters of a typed number are. */
  | { readonly type: 'step'; readonly state: State; readonly topic?: string | undefined }
  /** A state on the way to a step, such as while a point is dragged: undo skips it. */
  | { readonly type: 'preview'; readonly state: State }
  | { readonly type: 'undo' }
  | { readonly type: 'redo' };

/** Older steps are forgotten. */
export const maxSteps = 200;

/** Previews are steps of this topic, which no other step has. */
const previewing = ' preview';

/** Returns a history without steps. */
export const beginHistory = <State>(state: State): History<State> => ({
  past: [],
  present: state,
  future: [],
  topic: undefined,
});

function step<State>(history: History<State>, state: State, topic: string | undefined): History<State> {
  // The preview becomes this step; its state before is in the past already.
  const isSameStep = history.topic === previewing || (topic !== undefined && topic === history.topic);
  const past = isSameStep ? history.past : [...history.past, history.present].slice(-maxSteps);
  return { past, present: state, future: [], topic };
}

/** Returns the history after an action. Undo and redo without a step change nothing. */
export function reduceHistory<State>(history: History<State>, action: HistoryAction<State>): History<State> {
  switch (action.type) {
    case 'begin':
      return beginHistory(action.state);
    case 'step':
      return step(history, action.state, action.topic);
    case 'preview':
      return step(history, action.state, previewing);
    case 'undo': {
      const present = history.past.at(-1);
      if (present === undefined) return history;
      return {
        past: history.past.slice(0, -1),
        present,
        future: [history.present, ...history.future],
        topic: undefined,
      };
    }
    case 'redo': {
      const [present, ...future] = history.future;
      if (present === undefined) return history;
      return { past: [...history.past, history.present], present, future, topic: undefined };
    }
  }
}

/** Returns whether there is a step to undo. */
export const canUndo = ({ past }: History<unknown>): boolean => past.length > 0;
/** Returns whether there is an undone step to do again. */
export const canRedo = ({ future }: History<unknown>): boolean => future.length > 0;
