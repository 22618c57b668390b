/** The attempts to deliver to a webhook, each with its request and response. */
import { useState } from 'react';
import type { Attempt } from '../../client/types';
import { call } from '../client/call';
import { useChange, usePages } from '../client/hooks';
import { Badge, Beneath, Block, Button, Dialog, Empty, Loading, Notice } from '../components/controls';
import { grouped } from '../components/counts';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { PlainTable, type TableColumn } from '../components/table';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { useWorkspace } from '../state/session';
import { useAddressChoice } from '../state/view-address';
import { ResendDialog } from './resend';

const states = [
  { value: '', label: 'All attempts' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'given_up', label: 'Given up' },
] as const;

const stateValues = states.map(({ value }) => value);

const tones = { delivered: 'success', retrying: 'warning', given_up: 'danger' } as const;
const words = { delivered: 'Delivered', retrying: 'Retrying', given_up: 'Given up' } as const;

/** Lists the attempts of a webhook, newest first. One opens with its request and response. */
export function Attempts({ id }: { readonly id: string }) {
  const [state, setState] = useAddressChoice('state', stateValues, '');
  const { isOwner } = useWorkspace();
  const [opened, setOpened] = useState<Attempt>();
  const [isResending, setResending] = useState(false);
  const pages = usePages(
    'GET /v1/webhooks/{id}/attempts',
    { path: { id }, query: { limit: 50, state: state || undefined } },
    { refetchInterval: 5_000 },
  );
  const attempts = pages.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <div className="card attempts">
      <div className="toolbar">
        <select
          className="input"
          aria-label="State"
          value={state}
          onChange={({ target }) => setState(target.value as typeof state)}
        >
          {states.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        {isOwner && (
          <Button className="push" icon="refresh" onClick={() => setResending(true)}>
            Send a range again
          </Button>
        )}
      </div>
      <LoadProblem query={pages} isInCard />
      {pages.isPending && <Loading />}
      {pages.data && attempts.length === 0 && (
        <Empty title="No attempts">
          <p>An attempt appears about a second after it was made, and stays for 30 days.</p>
        </Empty>
      )}
      {attempts.length > 0 && <PlainTable columns={columnsWith(setOpened)} rows={attempts} />}
      {pages.hasNextPage && (
        <div className="table-foot">
          <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Older attempts
          </Button>
        </div>
      )}
      {isResending && <ResendDialog webhook={id} onClose={() => setResending(false)} />}
      {opened && <AttemptDialog webhook={id} attempt={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

const columnsWith = (open: (attempt: Attempt) => void): readonly TableColumn<Attempt>[] => [
  {
    title: 'Time',
    className: 'narrow clip truncate',
    cell: (attempt) => (
      <>
        <button type="button" className="link-button" onClick={() => open(attempt)}>
          {absoluteTime(attempt.at)}
        </button>
        <Beneath>{answerOf(attempt)}</Beneath>
      </>
    ),
  },
  {
    title: 'State',
    className: 'narrow',
    cell: ({ state }) => <Badge tone={tones[state]}>{words[state]}</Badge>,
  },
  { title: 'Answer', className: 'told-beneath clip truncate', cell: answerOf },
  { title: 'Duration', className: 'secondary number narrow', cell: durationText },
  { title: 'Event', className: 'secondary clip-short truncate', cell: typesOf },
  { title: 'Reason', className: 'secondary narrow', cell: ({ reason, attempt }) => `${reason}, attempt ${attempt}` },
];

/** Returns the types of the events in the request, as far as its body is JSON. */
function typesOf({ request: { body }, reason }: Attempt): string {
  if (reason === 'test') return 'sample';
  try {
    const { event, events = [event] } = JSON.parse(body) as { event?: { type: string }; events?: { type: string }[] };
    return events.flatMap((each) => each?.type ?? []).join(', ');
  } catch {
    return '';
  }
}

const durationText = ({ durationMs }: Attempt): string => `${grouped(Math.max(1, Math.round(durationMs)))} ms`;

const answerOf = ({ response, message, result }: Attempt): string =>
  response ? `${response.status}` : (message ?? result.replaceAll('_', ' '));

/** Returns JSON with indentation, and anything else as it is. */
function readable(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

interface AttemptProps {
  readonly webhook: string;
  readonly attempt: Attempt;
  onClose(): void;
}

function AttemptDialog({ webhook, attempt, onClose }: AttemptProps) {
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const event = attempt.events[0];
  const resend = useChange(async () => {
    await call('POST /v1/webhooks/{id}/redeliver', { path: { id: webhook }, body: { event: event ?? '' } });
    toasts.say('It is sent again.');
  }, 'webhooks');
  const { request, response } = attempt;
  return (
    <Dialog title="Attempt" isWide isBusy={resend.isPending} onClose={onClose}>
      <div className="dialog-body">
        <dl className="facts">
          <dt>Time</dt>
          <dd>{absoluteTime(attempt.at)}</dd>
          <dt>State</dt>
          <dd>
            <Badge tone={tones[attempt.state]}>{words[attempt.state]}</Badge>{' '}
            {attempt.nextAttemptAt && (
              <>
                next attempt <RelativeTime time={attempt.nextAttemptAt} />
              </>
            )}
          </dd>
          {attempt.message && (
            <>
              <dt>Problem</dt>
              <dd>{attempt.message}</dd>
            </>
          )}
          <dt>URL</dt>
          <dd>
            <code>{attempt.url}</code>
          </dd>
          <dt>Delivery</dt>
          <dd>
            <code>{attempt.delivery}</code>, attempt {attempt.attempt}, {durationText(attempt)}
          </dd>
        </dl>
        <h3>Request</h3>
        <Block label="Request body">{readable(request.body)}</Block>
        <h3>Response{response && `: ${response.status}`}</h3>
        {response ? (
          <>
            <Block label="Response headers">
              {Object.entries(response.headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join('\n')}
            </Block>
            {response.body !== '' && <Block label="Response body">{readable(response.body)}</Block>}
          </>
        ) : (
          <p className="quiet">There was none.</p>
        )}
        {/* A message at the edge of the page would be behind the dialog. */}
        {resend.error && (
          <Notice tone="danger" role="alert">
            {messageOf(resend.error)}
          </Notice>
        )}
      </div>
      <div className="dialog-foot">
        {isOwner && event !== undefined && attempt.reason !== 'test' && (
          <Button
            icon="refresh"
            isBusy={resend.isPending}
            onClick={() => resend.mutate(undefined, { onSuccess: onClose })}
          >
            Send again
          </Button>
        )}
        <Button look="primary" disabled={resend.isPending} onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
