/**
 * The keyboard in a list of rows. A list has one tab stop, however long it is: a control of the current row. Keys move
 * the focus through the rows, and through the controls of a row. Readers of screens hear a table or a list as before.
 */
import { type FocusEvent, type KeyboardEvent, type RefObject, useLayoutEffect, useRef, useState } from 'react';

interface Extent {
  readonly count: number;
  /** Rows in sight. */
  readonly perPage: number;
}

/** Returns the row that a key leads to from a row; undefined: the key does not move through rows. */
export function rowAfter(key: string, row: number, { count, perPage }: Extent): number | undefined {
  const leap = Math.max(1, perPage - 1);
  const targets = new Map([
    ['ArrowDown', row + 1],
    ['ArrowUp', row - 1],
    ['PageDown', row + leap],
    ['PageUp', row - leap],
    ['Home', 0],
    ['End', count - 1],
  ]);
  const target = targets.get(key);
  return target === undefined ? undefined : Math.max(0, Math.min(count - 1, target));
}

const sidewards = new Map([
  ['ArrowLeft', -1],
  ['ArrowRight', 1],
]);

/** A row of a list has its number as `data-index`. */
const rowSelector = '[data-index]';
const rowOf = (within: Element): HTMLElement | null => within.closest<HTMLElement>(rowSelector);
const numberOf = (row: HTMLElement): number => Number(row.dataset.index);
const controlsOf = (row: HTMLElement): HTMLElement[] => [
  ...row.querySelectorAll<HTMLElement>('a[href], button:enabled, input:enabled, select:enabled'),
];
/** Returns what the keys lead to in a row: its controls, or the row, if it has none. */
function targetsOf(row: HTMLElement): HTMLElement[] {
  const controls = controlsOf(row);
  return controls.length > 0 ? controls : [row];
}

interface Rows {
  /** What scrolls, with the rows in it. */
  readonly scroller: RefObject<HTMLElement | null>;
  readonly count: number;
  keyOf(index: number): string | number;
  /** Returns the row that has the tab stop until the keyboard has been in another one. */
  firstInSight(): number;
}

/** What a list knows of its keyboard. */
interface RowKeys {
  /** The row with the tab stop, which must be in the document; undefined: the keyboard has not been in the list. */
  readonly current: number | undefined;
  /** The listeners of what scrolls. */
  readonly listeners: {
    onKeyDown(event: KeyboardEvent): void;
    onFocus(event: FocusEvent): void;
  };
}

/** Gives a list its tab stop and its keys. The row with the focus keeps it when other rows come before it. */
export function useRowKeys({ scroller, count, keyOf, firstInSight }: Rows): RowKeys {
  const [currentKey, setCurrentKey] = useState<string | number>();
  const [column, setColumn] = useState(0);
  const isMoving = useRef(false);
  const found = currentKey === undefined ? -1 : indexOf(currentKey, count, keyOf);
  const current = found < 0 ? undefined : found;

  // After each render: rows come and go while one scrolls, and any cell may have controls.
  useLayoutEffect(() => {
    const list = scroller.current;
    if (list === null) return;
    const rows = [...list.querySelectorAll<HTMLElement>(rowSelector)];
    const hasControls = rows.some((row) => controlsOf(row).length > 0);
    // What scrolls must be reachable by keyboard.
    list.tabIndex = hasControls ? -1 : 0;
    if (!hasControls) return;
    const stop = current ?? firstInSight();
    for (const row of rows) {
      const targets = targetsOf(row);
      const chosen = numberOf(row) === stop ? targets[Math.min(column, targets.length - 1)] : undefined;
      for (const target of targets) target.tabIndex = target === chosen ? 0 : -1;
      if (!isMoving.current || chosen === undefined) continue;
      isMoving.current = false;
      chosen.focus({ preventScroll: true });
      row.scrollIntoView({ block: 'nearest' });
    }
  });

  function onKeyDown(event: KeyboardEvent): void {
    const { key, altKey, ctrlKey, metaKey, shiftKey } = event;
    const target = event.target as HTMLElement;
    const row = rowOf(target);
    if (row === null || altKey || ctrlKey || metaKey || shiftKey) return;
    const side = sidewards.get(key);
    const perPage = Math.floor(scroller.current!.clientHeight / Math.max(1, row.offsetHeight));
    const next = rowAfter(key, numberOf(row), { count, perPage });
    if (side === undefined && next === undefined) return;
    event.preventDefault();
    if (side !== undefined) {
      const targets = targetsOf(row);
      targets[targets.indexOf(target) + side]?.focus();
    } else if (next !== numberOf(row)) {
      isMoving.current = true;
      setCurrentKey(keyOf(next!));
    }
  }

  function onFocus(event: FocusEvent): void {
    const target = event.target as HTMLElement;
    const row = rowOf(target);
    if (row === null) return;
    const targets = targetsOf(row);
    // A row without a control of this column leaves the column as it is.
    if (targets.length > 1) setColumn(targets.indexOf(target));
    setCurrentKey(keyOf(numberOf(row)));
  }

  return { current, listeners: { onKeyDown, onFocus } };
}

function indexOf(key: string | number, count: number, keyOf: Rows['keyOf']): number {
  for (let index = 0; index < count; index++) if (keyOf(index) === key) return index;
  return -1;
}
