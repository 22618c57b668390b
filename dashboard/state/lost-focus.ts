/** Where the focus goes when the control that has it goes away, such as a button that was replaced by another. */
import { type RefObject, useEffect } from 'react';

/** Parts of a view that a reader knows by their names or edges. */
const parts = 'section[aria-label], .card, main';

/**
 * Gives a focus that is lost to the nearest part of the view that is still there, so that the next Tab goes on from
 * there. Browsers would begin again at the top of the page.
 */
export function useLostFocus(view: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const root = view.current;
    if (root === null) return;
    let focused: Element | undefined;
    let around: readonly HTMLElement[] = [];
    const note = ({ target }: FocusEvent) => {
      focused = target as Element;
      around = [];
      for (let part = closestPart(focused); part; part = closestPart(part.parentElement)) around = [...around, part];
    };
    const observer = new MutationObserver(() => {
      if (focused === undefined || focused.isConnected || document.activeElement !== document.body) return;
      const place = around.find((part) => part.isConnected);
      focused = undefined;
      if (place !== undefined) focusOnce(place);
    });
    root.addEventListener('focusin', note);
    observer.observe(root, { childList: true, subtree: true });
    return () => {
      root.removeEventListener('focusin', note);
      observer.disconnect();
    };
  }, [view]);
}

const closestPart = (element: Element | null): HTMLElement | null => element?.closest<HTMLElement>(parts) ?? null;

/** Focuses what cannot be focused by a click, and stays so. */
function focusOnce(part: HTMLElement): void {
  if (!part.hasAttribute('tabindex')) {
    part.tabIndex = -1;
    part.addEventListener('blur', () => part.removeAttribute('tabindex'), { once: true });
  }
  part.focus({ preventScroll: true });
}
