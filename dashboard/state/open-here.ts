/** What lies over a view, and belongs to the address at which it was opened. */
import { useState } from 'react';
import { usePathname, useSearch } from 'wouter/use-browser-location';

/**
 * Holds whether it is open. It closes when the browser goes to another view, project or environment.
 * @returns that, and what opens and closes it.
 */
export function useOpenHere(isOpenAtFirst = false): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const address = `${usePathname()}?${useSearch()}`;
  const [openedAt, setOpenedAt] = useState(isOpenAtFirst ? address : undefined);
  // Forward does not open it again.
  if (openedAt !== undefined && openedAt !== address) setOpenedAt(undefined);
  return [openedAt === address, (isOpen) => setOpenedAt(isOpen ? address : undefined)];
}
