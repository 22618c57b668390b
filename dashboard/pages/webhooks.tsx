/** The webhooks of the environment, with their health, and the form of a new one. */
import { useCallback, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Webhook } from '../../client/types';
import { call } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Badge, Beneath, Button, Empty, Loading, Page } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { FormDialog } from '../components/form';
import { SearchField } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import type { TableColumn } from '../components/table';
import { messageOf } from '../components/toasts';
import { VirtualTable } from '../components/virtual-table';
import { WebhookHealth } from '../components/webhook-health';
import { draftFields, isElsewhere, problemAt } from '../forms/draft';
import { bodyOf, newWebhook, webhookFields } from '../forms/webhook';
import { WebhookFields } from '../forms/webhook-fields';
import { keepListFilters } from '../state/list-address';
import { useWorkspace } from '../state/session';
import { useAddressTexts } from '../state/view-address';
import { IssuedSecret } from '../webhooks/issued-secret';

const filtersOf = ({ types, tags }: Webhook): string =>
  `${types ? types.join(', ') : 'All'}${tags ? `, tags ${tags.join(', ')}` : ''}`;

const columns: readonly TableColumn<Webhook>[] = [
  {
    title: 'URL',
    className: 'name clip truncate',
    cell: (webhook) => (
      <>
        <Link href={`/webhooks/${webhook._id}`}>{webhook.url}</Link>
        <Beneath>{[webhook.description, filtersOf(webhook)].filter(Boolean).join(' · ')}</Beneath>
      </>
    ),
  },
  {
    title: 'Description',
    className: 'secondary told-beneath clip-short truncate',
    cell: ({ description }) => description,
  },
  { title: 'Events', className: 'secondary told-beneath clip-short truncate', cell: filtersOf },
  {
    title: 'Health',
    className: 'narrow',
    cell: (webhook) => (webhook.enabled ? <WebhookHealth id={webhook._id} /> : <DisabledBadge webhook={webhook} />),
  },
];

export default function Webhooks() {
  const { isOwner } = useWorkspace();
  const loaded = useApi('GET /v1/webhooks', { query: { limit: 1_000 } });
  const [isCreating, setCreating] = useState(false);
  const [{ search }, put] = useAddressTexts(['search']);
  const setSearch = useCallback((text: string) => put({ search: text.trim() }), [put]);
  useEffect(() => keepListFilters('webhooks', new URLSearchParams(search && { search }).toString()), [search]);
  const all = loaded.data?.webhooks ?? [];
  const shown = all.filter((webhook) => isFound(webhook, search.toLowerCase()));
  const create = (
    <Button look="primary" onClick={() => setCreating(true)}>
      New webhook
    </Button>
  );
  return (
    <Page
      title="Webhooks"
      intro="Addresses that get every event as it happens: signed, in order, and retried until they answer."
      actions={isOwner && loaded.data?.webhooks.length !== 0 && create}
    >
      <LoadProblem query={loaded} />
      <div className="card list" hidden={loaded.isError && !loaded.data}>
        {loaded.isPending && <Loading rows={3} />}
        {loaded.data?.webhooks.length === 0 && (
          <Empty title="No webhooks yet" actions={isOwner && create}>
            <p>A webhook needs a URL that answers requests with 2xx.</p>
          </Empty>
        )}
        {all.length > 0 && (
          <div className="toolbar">
            <SearchField label="Search URLs and descriptions" value={search} onChange={setSearch} />
          </div>
        )}
        {all.length > 0 && shown.length === 0 && (
          <Empty title="Nothing matches" actions={<Button onClick={() => setSearch('')}>Clear the search</Button>}>
            <p>The search looks for a part of the URL or the description.</p>
          </Empty>
        )}
        {shown.length > 0 && (
          <VirtualTable label="List of webhooks" rows={shown} columns={columns} keyOf={({ _id }) => _id} />
        )}
        {all.length > 0 && (
          <p className="table-foot" role="status">
            {search !== '' && `${grouped(shown.length)} of `}
            {counted(all.length, 'webhook')}
          </p>
        )}
      </div>
      {isCreating && <NewWebhook onClose={() => setCreating(false)} />}
    </Page>
  );
}

const isFound = ({ url, description = '' }: Webhook, part: string): boolean =>
  url.toLowerCase().includes(part) || description.toLowerCase().includes(part);

const disabledWords = { owner: 'Disabled', gone: 'Stopped: gone', failing: 'Stopped: failing' } as const;

const DisabledBadge = ({ webhook: { disabled } }: { readonly webhook: Webhook }) => (
  <Badge tone={disabled && disabled.reason !== 'owner' ? 'danger' : 'neutral'}>
    {disabledWords[disabled?.reason ?? 'owner']}
  </Badge>
);

function NewWebhook({ onClose }: { onClose(): void }) {
  const [draft, setDraft] = useState(newWebhook);
  const [created, setCreated] = useState<Webhook>();
  const create = useChange(() => call('POST /v1/webhooks', { body: bodyOf(draft) }), 'webhooks');
  const form = draftFields(draft, setDraft, (param) => problemAt(create.error, param));
  if (created) return <IssuedSecret created={created} />;
  return (
    <FormDialog
      title="New webhook"
      action="Create webhook"
      isBusy={create.isPending}
      error={create.error}
      problem={isElsewhere(create.error, webhookFields) ? messageOf(create.error) : undefined}
      onSubmit={() => create.mutate(undefined, { onSuccess: ({ webhook }) => setCreated(webhook) })}
      onClose={onClose}
    >
      <WebhookFields form={form} />
    </FormDialog>
  );
}
