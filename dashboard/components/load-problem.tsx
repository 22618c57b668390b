/** What is shown in the place of what could not be loaded. */
import { useQueryClient } from '@tanstack/react-query';
import { isNotFound } from '../client/call';
import { Button, Empty, Notice } from './controls';
import { messageOf } from './toasts';

/** What is shown of a query. */
export interface Loadable {
  readonly error: unknown;
  readonly isPending: boolean;
  readonly isFetching: boolean;
  refetch(): unknown;
}

interface Props {
  readonly query: Loadable;
  /** What is said in place of the problem if the record does not exist. Default: the problem. */
  readonly absent?: { readonly title: string; readonly reason: string };
  /** Whether it is in a card, whose edge it keeps away from. */
  readonly isInCard?: boolean;
}

/**
 * Says why a query has no answer, and asks again on request, with all others in sight that failed. Shows nothing for a
 * query that has an answer.
 */
export function LoadProblem({ query, absent, isInCard = false }: Props) {
  const client = useQueryClient();
  const { error, isFetching, refetch } = query;
  if (error === null || error === undefined) return null;
  if (absent && isNotFound(error)) {
    return (
      <div className="card">
        <Empty title={absent.title}>
          <p>{absent.reason}</p>
        </Empty>
      </div>
    );
  }
  function tryAgain(): void {
    void refetch();
    // What failed for one reason works again for one reason.
    void client.refetchQueries({
      type: 'active',
      fetchStatus: 'idle',
      predicate: ({ state }) => state.status === 'error',
    });
  }
  const notice = (
    <Notice tone="danger" role="alert">
      <div className="spread">
        <span>
          <strong>This could not be loaded.</strong> {messageOf(error)}
        </span>
        <Button isCompact isBusy={isFetching} onClick={tryAgain}>
          Try again
        </Button>
      </div>
    </Notice>
  );
  return isInCard ? <div className="card-body">{notice}</div> : notice;
}
