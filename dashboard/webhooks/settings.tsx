/** The settings of a webhook, and its end. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { type Answer, call, revisionOf } from '../client/call';
import { useChange } from '../client/hooks';
import { Button, Confirm } from '../components/controls';
import { Form } from '../components/form';
import { messageOf, useToasts } from '../components/toasts';
import { patchOf } from '../forms/draft';
import { FormEnd, Section } from '../forms/parts';
import { bodyOf, draftOf, webhookFields } from '../forms/webhook';
import { WebhookFields } from '../forms/webhook-fields';
import { useWorkspace } from '../state/session';

export function WebhookForm({ loaded }: { readonly loaded: Answer<'GET /v1/webhooks/{id}'> }) {
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
  function submit() {
    save.mutate(undefined, { onSuccess: () => toasts.say('The webhook is saved.') });
  }
  return (
    <Form className="stack" error={save.error} onSubmit={submit}>
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
    </Form>
  );
}
