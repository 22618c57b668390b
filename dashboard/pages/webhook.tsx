/** One webhook: its attempts with request and response, what waits, its settings and secrets. */
import * as Tabs from '@radix-ui/react-tabs';
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import { type Answer, call, revisionOf } from '../client/call';
import { useApi, useChange, usePages } from '../client/hooks';
import type { Attempt, Webhook } from '../client/types';
import {
  Badge,
  Block,
  Button,
  Confirm,
  Dialog,
  Empty,
  Issued,
  Loading,
  Notice,
  Page,
  TextField,
} from '../components/controls';
import { Icon } from '../components/icons';
import { absoluteTime, relativeTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { WebhookHealth } from '../components/webhook-health';
import { numberOf, patchOf, problemAt } from '../forms/draft';
import { FormEnd, Section, showProblem } from '../forms/parts';
import { bodyOf, draftOf, WebhookFields, webhookFields } from '../forms/webhook';
import { useWorkspace } from '../state/session';

type Loaded = Answer<'GET /v1/webhooks/{id}'>;

const back = (
  <Link href="/webhooks" className="back">
    <Icon name="back" size={14} /> Webhooks
  </Link>
);

const reasons = {
  owner: 'An owner disabled it.',
  gone: 'Its server answered 410 Gone.',
  failing: 'It failed for too long.',
} as const;

export default function WebhookView() {
  const { id } = useParams<{ id: string }>();
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const loaded = useApi('GET /v1/webhooks/{id}', { path: { id } }, { staleTime: Number.POSITIVE_INFINITY });
  const test = useChange(() => call('POST /v1/webhooks/{id}/test', { path: { id }, body: {} }), 'webhooks');
  if (loaded.data === undefined) {
    return loaded.error ? (
      <Page title="Webhook" above={back}>
        <Notice tone="danger">{messageOf(loaded.error)}</Notice>
      </Page>
    ) : (
      <Loading />
    );
  }
  const { webhook } = loaded.data;
  return (
    <Page
      title={webhook.description ?? new URL(webhook.url).host}
      above={back}
      intro={<code>{webhook.url}</code>}
      actions={
        isOwner && (
          <Button
            isBusy={test.isPending}
            onClick={() =>
              test.mutate(undefined, {
                onSuccess: ({ attempt }) =>
                  attempt.state === 'delivered'
                    ? toasts.say('The sample was delivered.')
                    : toasts.complain(attempt.message ?? attempt.result),
                onError: toasts.complain,
              })
            }
          >
            Send a sample
          </Button>
        )
      }
    >
      <div className="row">
        {webhook.enabled ? <WebhookHealth id={id} /> : <Badge>Disabled</Badge>}
        {webhook.disabled && (
          <span className="quiet">
            {reasons[webhook.disabled.reason]} {relativeTime(webhook.disabled.at)}
          </span>
        )}
      </div>
      <Tabs.Root defaultValue="attempts" className="stack">
        <Tabs.List className="tabs" aria-label="Webhook">
          <Tabs.Trigger className="tab" value="attempts">
            Attempts
          </Tabs.Trigger>
          <Tabs.Trigger className="tab" value="waiting">
            Waiting
          </Tabs.Trigger>
          <Tabs.Trigger className="tab" value="secrets">
            Secrets
          </Tabs.Trigger>
          <Tabs.Trigger className="tab" value="settings">
            Settings
          </Tabs.Trigger>
        </Tabs.List>
        <Tabs.Content value="attempts">
          <Attempts id={id} />
        </Tabs.Content>
        <Tabs.Content value="waiting">
          <Waiting id={id} />
        </Tabs.Content>
        <Tabs.Content value="secrets">
          <Secrets webhook={webhook} />
        </Tabs.Content>
        <Tabs.Content value="settings">
          <WebhookForm key={revisionOf(loaded.data)} loaded={loaded.data} />
        </Tabs.Content>
      </Tabs.Root>
    </Page>
  );
}

const states = [
  { value: '', label: 'All attempts' },
  { value: 'delivered', label: 'Delivered' },
  { value: 'retrying', label: 'Retrying' },
  { value: 'given_up', label: 'Given up' },
] as const;

const tones = { delivered: 'success', retrying: 'warning', given_up: 'danger' } as const;
const words = { delivered: 'Delivered', retrying: 'Retrying', given_up: 'Given up' } as const;

function Attempts({ id }: { readonly id: string }) {
  const [state, setState] = useState<(typeof states)[number]['value']>('');
  const [opened, setOpened] = useState<Attempt>();
  const pages = usePages(
    'GET /v1/webhooks/{id}/attempts',
    { path: { id }, query: { limit: 50, state: state || undefined } },
    { refetchInterval: 5_000 },
  );
  const attempts = pages.data?.pages.flatMap((page) => page.attempts) ?? [];
  return (
    <div className="card">
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
      </div>
      {pages.error && (
        <div className="card-body">
          <Notice tone="danger">{messageOf(pages.error)}</Notice>
        </div>
      )}
      {pages.isPending && <Loading />}
      {pages.data && attempts.length === 0 && (
        <Empty title="No attempts">
          <p>An attempt appears about a second after it was made, and stays for 30 days.</p>
        </Empty>
      )}
      {attempts.length > 0 && (
        <div className="table-wrap">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Time</th>
                <th scope="col">State</th>
                <th scope="col">Answer</th>
                <th scope="col" className="secondary number">
                  Duration
                </th>
                <th scope="col" className="secondary">
                  Delivery
                </th>
                <th scope="col" className="secondary">
                  Reason
                </th>
              </tr>
            </thead>
            <tbody>
              {attempts.map((attempt) => (
                <tr key={attempt._id}>
                  <td className="narrow">
                    <button type="button" className="link-button" onClick={() => setOpened(attempt)}>
                      {absoluteTime(attempt.at)}
                    </button>
                  </td>
                  <td className="narrow">
                    <Badge tone={tones[attempt.state]}>{words[attempt.state]}</Badge>
                  </td>
                  <td className="clip truncate">{answerOf(attempt)}</td>
                  <td className="secondary number">{attempt.durationMs} ms</td>
                  <td className="secondary clip-short truncate">
                    <code>{attempt.delivery}</code>
                  </td>
                  <td className="secondary">
                    {attempt.reason}, attempt {attempt.attempt}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {pages.hasNextPage && (
        <div className="table-foot">
          <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Older attempts
          </Button>
        </div>
      )}
      {opened && <AttemptDialog webhook={id} attempt={opened} onClose={() => setOpened(undefined)} />}
    </div>
  );
}

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
  const resend = useChange(
    () => call('POST /v1/webhooks/{id}/redeliver', { path: { id: webhook }, body: { event: event ?? '' } }),
    'webhooks',
  );
  const { request, response } = attempt;
  return (
    <Dialog title="Attempt" isWide onClose={onClose}>
      <div className="dialog-body">
        <dl className="facts">
          <dt>Time</dt>
          <dd>{absoluteTime(attempt.at)}</dd>
          <dt>State</dt>
          <dd>
            <Badge tone={tones[attempt.state]}>{words[attempt.state]}</Badge>{' '}
            {attempt.nextAttemptAt && `next attempt ${relativeTime(attempt.nextAttemptAt)}`}
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
            <code>{attempt.delivery}</code>, attempt {attempt.attempt}, {attempt.durationMs} ms
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
      </div>
      <div className="dialog-foot">
        {isOwner && event !== undefined && attempt.reason !== 'test' && (
          <Button
            icon="refresh"
            isBusy={resend.isPending}
            onClick={() =>
              resend.mutate(undefined, {
                onSuccess: () => {
                  toasts.say('It is sent again.');
                  onClose();
                },
                onError: toasts.complain,
              })
            }
          >
            Send again
          </Button>
        )}
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

function Waiting({ id }: { readonly id: string }) {
  const loaded = useApi(
    'GET /v1/webhooks/{id}/deliveries',
    { path: { id }, query: { limit: 100 } },
    { refetchInterval: 5_000 },
  );
  return (
    <div className="card">
      {loaded.error && (
        <div className="card-body">
          <Notice tone="danger">{messageOf(loaded.error)}</Notice>
        </div>
      )}
      {loaded.isPending && <Loading rows={3} />}
      {loaded.data?.deliveries.length === 0 && (
        <Empty title="Nothing waits">
          <p>Deliveries wait here for their next attempt.</p>
        </Empty>
      )}
      <ul>
        {loaded.data?.deliveries.map(({ _id, events, attempts, nextAttemptAt, createdAt }) => (
          <li key={_id} className="list-row center">
            <div className="grow">
              <p className="truncate">
                <code>{_id}</code>
              </p>
              <p className="quiet small">
                {events.length} {events.length === 1 ? 'event' : 'events'}, since {relativeTime(createdAt)}
              </p>
            </div>
            <span className="quiet">
              {attempts} {attempts === 1 ? 'attempt' : 'attempts'}, next {relativeTime(nextAttemptAt)}
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function Secrets({ webhook }: { readonly webhook: Webhook }) {
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const [overlap, setOverlap] = useState<string>();
  const [issued, setIssued] = useState<string>();
  const [revoked, setRevoked] = useState<Webhook['secrets'][number]>();
  const path = { id: webhook._id };
  const rotate = useChange(
    () => call('POST /v1/webhooks/{id}/secrets', { path, body: { overlapHours: numberOf(overlap ?? '') ?? 0 } }),
    'webhooks',
  );
  const revoke = useChange(
    (secretId: string) => call('DELETE /v1/webhooks/{id}/secrets/{secretId}', { path: { ...path, secretId } }),
    'webhooks',
  );
  return (
    <section className="card" aria-label="Secrets">
      <div className="card-head">
        <p className="quiet">Each request is signed with every secret that has not ended.</p>
        {isOwner && (
          <Button icon="refresh" onClick={() => setOverlap('24')}>
            Rotate
          </Button>
        )}
      </div>
      <ul>
        {webhook.secrets.map((secret) => (
          <li key={secret._id} className="list-row center">
            <div className="grow">
              <p>
                <code>{secret.hint}</code>
              </p>
              <p className="quiet small">
                created {relativeTime(secret.createdAt)}
                {secret.expiresAt && `, ends ${relativeTime(secret.expiresAt)}`}
              </p>
            </div>
            {isOwner && webhook.secrets.length > 1 && (
              <Button look="danger" aria-label={`Revoke ${secret.hint}`} onClick={() => setRevoked(secret)}>
                Revoke
              </Button>
            )}
          </li>
        ))}
      </ul>
      {overlap !== undefined && (
        <Dialog title="Rotate the secret" onClose={() => setOverlap(undefined)}>
          <div className="dialog-body">
            <TextField
              label="Overlap"
              unit="h"
              inputMode="decimal"
              hint="The old secret signs requests too for this time, so that you can change your receiver."
              value={overlap}
              problem={rotate.error ? (problemAt(rotate.error, 'overlapHours') ?? messageOf(rotate.error)) : undefined}
              onChange={setOverlap}
            />
          </div>
          <div className="dialog-foot">
            <Button onClick={() => setOverlap(undefined)}>Cancel</Button>
            <Button
              look="primary"
              isBusy={rotate.isPending}
              onClick={() =>
                rotate.mutate(undefined, {
                  onSuccess: ({ webhook: { secrets } }) => {
                    setOverlap(undefined);
                    setIssued(secrets.find(({ secret }) => secret !== undefined)?.secret);
                  },
                })
              }
            >
              Rotate
            </Button>
          </div>
        </Dialog>
      )}
      {issued !== undefined && (
        <Issued title="The new secret" text={issued} copyLabel="Copy the secret" onClose={() => setIssued(undefined)}>
          It is shown only this once.
        </Issued>
      )}
      {revoked && (
        <Confirm
          title={`Revoke ${revoked.hint}?`}
          action="Revoke"
          isBusy={revoke.isPending}
          problem={revoke.error ? messageOf(revoke.error) : undefined}
          onClose={() => setRevoked(undefined)}
          onConfirm={() =>
            revoke.mutate(revoked._id, {
              onSuccess: () => {
                setRevoked(undefined);
                toasts.say('The secret is revoked.');
              },
            })
          }
        >
          <p>Receivers that verify with it refuse requests from now on.</p>
        </Confirm>
      )}
    </section>
  );
}

function WebhookForm({ loaded }: { readonly loaded: Loaded }) {
  const { isOwner } = useWorkspace();
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const [initial] = useState(() => draftOf(loaded.webhook));
  const [draft, setDraft] = useState(initial);
  const [isDeleting, setDeleting] = useState(false);
  const path = { id: loaded.webhook._id };
  const save = useChange(
    () =>
      call('PATCH /v1/webhooks/{id}', {
        path,
        body: patchOf(bodyOf(initial), bodyOf(draft)),
        ifMatch: revisionOf(loaded),
      }),
    'webhooks',
  );
  const remove = useChange(() => call('DELETE /v1/webhooks/{id}', { path }), 'webhooks');
  function submit(event: FormEvent) {
    event.preventDefault();
    save.mutate(undefined, { onSuccess: () => toasts.say('The webhook is saved.'), onError: showProblem });
  }
  return (
    <form className="stack" onSubmit={submit} noValidate>
      <Section title="Settings">
        <WebhookFields draft={draft} error={save.error} isDisabled={!isOwner} onChange={setDraft} />
      </Section>
      {isOwner && (
        <div>
          <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete the webhook
          </Button>
        </div>
      )}
      <FormEnd
        error={save.error}
        fields={webhookFields}
        isBusy={save.isPending}
        action="Save changes"
        cancel={undefined}
      />
      {isDeleting && (
        <Confirm
          title="Delete the webhook?"
          action="Delete"
          isBusy={remove.isPending}
          problem={remove.error ? messageOf(remove.error) : undefined}
          onClose={() => setDeleting(false)}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/webhooks') })}
        >
          <p>What waits for {loaded.webhook.url} is not sent any more.</p>
        </Confirm>
      )}
    </form>
  );
}
