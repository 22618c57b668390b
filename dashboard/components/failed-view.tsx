/** Catches what a view throws, so that the rest of the page stays usable. */
import { Component, type ReactNode, useEffect, useRef } from 'react';
import { checkReachable, useIsReachable } from '../state/connection';
import { Button, Empty } from './controls';

interface Props {
  /** Another path tries again. */
  readonly path: string;
  readonly children: ReactNode;
}

interface State {
  readonly failedPath: string | undefined;
}

export class FailedView extends Component<Props, State> {
  override readonly state: State = { failedPath: undefined };

  static getDerivedStateFromError(): Partial<State> {
    return { failedPath: '' };
  }

  static getDerivedStateFromProps({ path }: Props, { failedPath }: State): Partial<State> | null {
    if (failedPath === '') return { failedPath: path };
    return failedPath !== undefined && failedPath !== path ? { failedPath: undefined } : null;
  }

  override render(): ReactNode {
    if (this.state.failedPath === undefined) return this.props.children;
    return <Failed />;
  }
}

/** The code of a view does not come while the server does not answer. Then the page is loaded when it does. */
function Failed() {
  const isReachable = useIsReachable();
  const wasUnreachable = useRef(false);
  useEffect(() => void checkReachable(), []);
  useEffect(() => {
    if (isReachable && wasUnreachable.current) location.reload();
    wasUnreachable.current = !isReachable;
  }, [isReachable]);
  if (!isReachable) {
    return (
      <Empty title="This view is not loaded yet">
        <p>It is shown as soon as the server answers.</p>
      </Empty>
    );
  }
  return (
    <Empty
      title="This view could not be shown"
      actions={
        <Button look="primary" onClick={() => location.reload()}>
          Load the page again
        </Button>
      }
    >
      <p>The server may have been updated since the page was loaded.</p>
    </Empty>
  );
}
