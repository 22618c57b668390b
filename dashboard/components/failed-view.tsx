/** Catches what a view throws, so that the rest of the page stays usable. */
import { Component, type ReactNode } from 'react';
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
    return (
      <Empty
        title="This view could not be shown"
        actions={
          <Button look="primary" onClick={() => location.reload()}>
            Load the page again
          </Button>
        }
      >
        <p>The server may have been updated, or was not reachable when the view was loaded.</p>
      </Empty>
    );
  }
}
