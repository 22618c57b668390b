/** The settings of a webhook, and its end. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import { type Answer, call, callIn } from '../client/call';
import { useChange } from '../client/hooks';
import { Button, Confirm } from '../components/controls';
import { Form } from '../components/form';
import { messageOf, useToasts } from '../components/toasts';
import { patchOf } from '../forms/draft';
import { useEdit } from '../forms/edit';
import { FormEnd, Section } from '../forms/parts';
import { bodyOf, draftOf, webhookFields } from '../forms/webhook';
import { WebhookFields } from '../forms/webhook-fields';
import { useWorkspace } from '../state/session';

type Loaded = Answer<'GET /v1/webhooks/{id}'>;

const draftIn = ({ webhook }: Loaded) => draftOf(webhook);

export function WebhookForm({ loaded }: { readonly loaded: Loaded }) {
  const { isOwner } = useWorkspace();
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const edit = useEdit(loaded, draftIn);
  const { initial, draft } = edit;
  const [isDeleting, setDeleting] = useState(false);
  const path = { id: loaded.webhook._id };
  const save = useChange((_: undefined, scope) => {
    const body = patchOf(bodyOf(initial), bodyOf(draft));
    return edit.save({
      load: () => callIn(scope, 'GET /v1/webhooks/{id}', { path }),
      save: (ifMatch) => callIn(scope, 'PATCH /v1/webhooks/{id}', { path, body, ifMatch }),
    });
  }, 'webhooks');
  const remove = useChange(async () => {
    await call('DELETE /v1/webhooks/{id}', { path });
    // Nobody is asked about changes of what is gone.
    edit.discard();
  }, 'webhooks');
  function submit() {
    save.mutate(undefined, { onSuccess: () => toasts.say('The webhook is saved.') });
  }
  return (
    <Form className="stack" error={save.error} onSubmit={submit}>
      <Section title="Settings">
        <WebhookFields draft={draft} error={save.error} isDisabled={!isOwner} onChange={edit.change} />
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
        onDiscard={() => {
          edit.discard();
          save.reset();
        }}
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
