/** Keeps the project and environment in each address to which the views lead. */
import { type ReactNode, useCallback } from 'react';
import { type AroundNavHandler, Router } from 'wouter';
import { useSearch } from 'wouter/use-browser-location';
import { scopeIn, withoutScope, withScope } from '../state/scope-address';
import { useScope } from '../state/session';
import { leave } from '../state/unsaved';

const useViewSearch = (): string => withoutScope(useSearch());

/** Another project may have been chosen in the same moment, so the address says which one is shown. */
const navigateInScope: AroundNavHandler = (navigate, to, options) =>
  leave(() => navigate(withScope(to, scopeIn(location.search)), options));

/** Routes the views, which see an address without project and environment, and asks before unsaved changes are left. */
export function ScopedRouter({ children }: { readonly children: ReactNode }) {
  const scope = useScope();
  const hrefs = useCallback((path: string) => withScope(path, scope), [scope]);
  return (
    <Router searchHook={useViewSearch} hrefs={hrefs} aroundNav={navigateInScope}>
      {children}
    </Router>
  );
}
