/** The settings of a webhook, and its end. */
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Webhook } from '../../client/types';
import { type Answer, call, callIn, untilGone } from '../client/call';
import { useChange } from '../client/hooks';
import { Button, Confirm } from '../components/controls';
import { Form, FormFields } from '../components/form';
import { messageOf, useToasts } from '../components/toasts';
import { patchOf } from '../forms/draft';
import { useSavedForm } from '../forms/edit';
import { FormEnd, Section } from '../forms/parts';
import { bodyOf, draftOf, webhookFields } from '../forms/webhook';
import { WebhookFields } from '../forms/webhook-fields';
import { useWorkspace } from '../state/session';
import { IssuedSecret } from './issued-secret';

type Loaded = Answer<'GET /v1/webhooks/{id}'>;

const draftIn = ({ webhook }: Loaded) => draftOf(webhook);

export function WebhookForm({ loaded }: { readonly loaded: Loaded }) {
  const { isOwner } = useWorkspace();
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const [isDeleting, setDeleting] = useState(false);
  const [created, setCreated] = useState<Webhook>();
  const path = { id: loaded.webhook._id };
  const form = useSavedForm(
    loaded,
    draftIn,
    {
      load: (scope) => callIn(scope, 'GET /v1/webhooks/{id}', { path }),
      save: (scope, { initial, draft, ifMatch }) =>
        callIn(scope, 'PATCH /v1/webhooks/{id}', { path, body: patchOf(bodyOf(initial), bodyOf(draft)), ifMatch }),
      create: (scope, draft) => callIn(scope, 'POST /v1/webhooks', { body: bodyOf(draft) }),
    },
    'webhooks',
  );
  const remove = useChange(async () => {
    await untilGone(call('DELETE /v1/webhooks/{id}', { path }));
    // Nobody is asked about changes of what is gone.
    form.discard();
  }, 'webhooks');
  async function submit() {
    if (await form.save()) toasts.say('The webhook is saved.');
  }
  async function recreate() {
    setCreated((await form.saveAsNew())?.webhook);
  }
  return (
    <Form className="stack" error={form.error} onSubmit={() => void submit()}>
      <FormFields className="stack" isReadOnly={!isOwner} isSaving={form.isSaving}>
        <Section title="Settings">
          <WebhookFields form={form} />
        </Section>
      </FormFields>
      {isOwner && (
        <div>
          <Button look="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete the webhook
          </Button>
        </div>
      )}
      <FormEnd form={{ ...form, recreate: () => void recreate() }} fields={webhookFields} action="Save changes" />
      {created && <IssuedSecret created={created} />}
      {isDeleting && (
        <Confirm
          title="Delete the webhook?"
          action="Delete"
          isBusy={remove.isPending}
          problem={remove.error ? messageOf(remove.error) : undefined}
          onClose={() => setDeleting(false)}
          onConfirm={() => remove.mutate(undefined, { onSuccess: () => navigate('/webhooks') })}
        >
          <p>This discards the events that wait for {loaded.webhook.url}.</p>
        </Confirm>
      )}
    </Form>
  );
}
