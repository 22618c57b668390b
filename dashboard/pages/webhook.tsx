/** One webhook: its attempts with request and response, what waits, its settings and secrets. */
import * as Tabs from '@radix-ui/react-tabs';
import { Link, useParams } from 'wouter';
import { call } from '../client/call';
import { forEditing, useApi } from '../client/hooks';
import { useAction } from '../components/action';
import { Button, Loading, Notice, Page } from '../components/controls';
import { Icon } from '../components/icons';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { useToasts } from '../components/toasts';
import { WebhookHealth } from '../components/webhook-health';
import { listAddress } from '../state/list-address';
import { useWorkspace } from '../state/session';
import { useAddressChoice } from '../state/view-address';
import { Attempts } from '../webhooks/attempts';
import { Secrets } from '../webhooks/secrets';
import { WebhookForm } from '../webhooks/settings';
import { Waiting } from '../webhooks/waiting';

/** Leads to the list as it was left. */
const Back = () => (
  <Link href={listAddress('webhooks')} className="back">
    <Icon name="back" size={14} /> Webhooks
  </Link>
);

const absent = {
  title: 'This webhook does not exist',
  reason: 'It was deleted, or belongs to the other environment.',
};

const tabs = ['attempts', 'waiting', 'secrets', 'settings'] as const;
type Tab = (typeof tabs)[number];

const reasons = {
  owner: 'An owner disabled it.',
  gone: 'Its server answered 410 Gone.',
  failing: 'It failed for too long.',
} as const;

export default function WebhookView() {
  const { id } = useParams<{ id: string }>();
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const [tab, setTab] = useAddressChoice('tab', tabs, 'attempts');
  const loaded = useApi('GET /v1/webhooks/{id}', { path: { id } }, forEditing);
  const test = useAction(async () => {
    const { attempt } = await call('POST /v1/webhooks/{id}/test', { path: { id }, body: {} });
    if (attempt.state === 'delivered') toasts.say('The sample was delivered.');
    else toasts.complain(attempt.message ?? attempt.result);
  }, 'webhooks');
  const enable = useAction(
    () => call('PATCH /v1/webhooks/{id}', { path: { id }, body: { enabled: true } }),
    'webhooks',
  );
  if (loaded.data === undefined) {
    return (
      <Page title="Webhook" above={<Back />}>
        {loaded.error ? <LoadProblem query={loaded} absent={absent} /> : <Loading />}
      </Page>
    );
  }
  const { webhook } = loaded.data;
  return (
    <Page
      title={webhook.description ?? new URL(webhook.url).host}
      above={<Back />}
      intro={<code>{webhook.url}</code>}
      actions={
        isOwner && (
          <Button isBusy={test.isPending} onClick={() => test.mutate(undefined)}>
            Send a sample
          </Button>
        )
      }
    >
      {webhook.enabled ? (
        <WebhookHealth id={id} />
      ) : (
        <Notice tone={webhook.disabled?.reason === 'owner' ? 'info' : 'warning'}>
          <div className="spread">
            <span>
              Nothing is sent.{' '}
              {webhook.disabled && (
                <>
                  {reasons[webhook.disabled.reason]} That was <RelativeTime time={webhook.disabled.at} />.
                </>
              )}
            </span>
            {isOwner && (
              <Button isCompact isBusy={enable.isPending} onClick={() => enable.mutate(undefined)}>
                Enable
              </Button>
            )}
          </div>
        </Notice>
      )}
      <Tabs.Root value={tab} onValueChange={(next) => setTab(next as Tab)} className="stack">
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
          <Secrets loaded={loaded.data} />
        </Tabs.Content>
        {/* It stays in the document, with what is typed, while another tab is shown. */}
        <Tabs.Content value="settings" forceMount hidden={tab !== 'settings'}>
          <WebhookForm key={id} loaded={loaded.data} />
        </Tabs.Content>
      </Tabs.Root>
    </Page>
  );
}
