/** Where the focus goes when another view is shown. */
import { useEffect } from 'react';

let shownPath = location.pathname;

/**
 * Moves the focus to the content of a view that replaces another, unless it is on something that is still there. The
 * first view leaves it at the beginning of the page.
 */
export function useViewFocus(): void {
  useEffect(() => {
    if (location.pathname === shownPath) return;
    shownPath = location.pathname;
    const focused = document.activeElement;
    if (focused !== null && focused !== document.body && focused.checkVisibility()) return;
    document.getElementById('main')?.focus({ preventScroll: true });
  }, []);
}
