/** Where the focus is after rows of an editor have come or gone. */
import { useEffect, useRef } from 'react';

/**
 * Returns a reference for the element that has the rows, and a function that says which control in it has the focus
 * after the next rendering: the last that the selector finds. The button that was pressed may be gone by then.
 */
export function useFocusOfRows() {
  const editor = useRef<HTMLDivElement>(null);
  const next = useRef<string>(undefined);
  useEffect(() => {
    if (next.current === undefined) return;
    const found = editor.current?.querySelectorAll<HTMLElement>(next.current) ?? [];
    [...found].at(-1)?.focus();
    next.current = undefined;
  });
  const focusNext = (selector: string): void => {
    next.current = selector;
  };
  return { editor, focusNext };
}
