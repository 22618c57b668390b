/** Says that the server does not answer, for as long as it does not. */
import { Button } from '../components/controls';
import { askNow, useIsReachable } from '../state/connection';

export function UnreachableBanner() {
  const isReachable = useIsReachable();
  return (
    <div role="alert">
      {!isReachable && (
        <div className="banner">
          <span className="spinner" />
          <span>The server does not answer. This page continues by itself as soon as it does.</span>
          <Button isCompact onClick={askNow}>
            Try now
          </Button>
        </div>
      )}
    </div>
  );
}
