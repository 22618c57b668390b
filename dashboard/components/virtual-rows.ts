/** The rows of a long list: only those in sight, and the one with the tab stop, are in the document. */
import { defaultRangeExtractor, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { useRef, useState } from 'react';
import { useRowKeys } from './row-keys';

interface Options {
  readonly count: number;
  /** In pixels, before a row is measured, with letters of the usual size. */
  readonly rowHeight: number;
  keyOf(index: number): string | number;
}

const overscan = 12;

const usualLetterPx = 16;
/** Returns how much larger the letters are that the reader has chosen in the browser. */
const letterScale = (): number =>
  Number.parseFloat(getComputedStyle(document.documentElement).fontSize) / usualLetterPx;

/** Returns what a list needs to show its rows: what scrolls, the rows, and the listeners of its keyboard. */
export function useVirtualRows({ count, rowHeight, keyOf }: Options) {
  const scroller = useRef<HTMLElement>(null);
  const firstInSight = (): number => virtualizer.range?.startIndex ?? 0;
  const { current, listeners } = useRowKeys({ scroller, count, keyOf, firstInSight });
  // Asked once: the answer may cost a layout, and lists of events are drawn often.
  const [scale] = useState(letterScale);
  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    getItemKey: keyOf,
    estimateSize: () => rowHeight * scale,
    overscan,
    // The row with the tab stop stays in the document out of sight, because it may have the focus.
    rangeExtractor: (range) => withRow(defaultRangeExtractor(range), current),
  });
  const lastInSight = virtualizer.range?.endIndex ?? 0;
  /** Returns the attributes of a row in a list, which says its place among all. */
  const itemProps = ({ index, start, size }: VirtualItem) => ({
    'data-index': index,
    style: { transform: `translateY(${start}px)`, height: size },
    'aria-setsize': count,
    'aria-posinset': index + 1,
  });
  return { scroller, virtualizer, rows: virtualizer.getVirtualItems(), lastInSight, listeners, itemProps };
}

/** Returns the numbers of rows in their order, with one more. */
function withRow(rows: readonly number[], row: number | undefined): number[] {
  if (row === undefined || rows.includes(row)) return [...rows];
  return [...rows, row].sort((one, other) => one - other);
}
