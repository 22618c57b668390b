/** The secrets that sign a webhook's requests, and their rotation. */
import { useState } from 'react';
import type { Webhook } from '../../client/types';
import { type Answer, call, callIn, untilGone } from '../client/call';
import { useChange, useRefresh } from '../client/hooks';
import { Button, Confirm, Issued, TextField } from '../components/controls';
import { FormDialog } from '../components/form';
import { RelativeTime } from '../components/relative-time';
import { messageOf, useToasts } from '../components/toasts';
import { isElsewhere, problemAt, quantityOf } from '../forms/draft';
import { isOutdated, saveOver } from '../forms/edit';
import { useWorkspace } from '../state/session';

type Loaded = Answer<'GET /v1/webhooks/{id}'>;

/** A rotation that is asked for, and the webhook as it was shown then: somebody else may rotate it meanwhile. */
interface Rotation {
  readonly opened: Loaded;
  readonly overlap: string;
}

const idsIn = ({ webhook }: Loaded) => webhook.secrets.map(({ _id }) => _id);

/** Lists the secrets of a webhook, rotates them and revokes older ones. A new one is shown once. */
export function Secrets({ loaded }: { readonly loaded: Loaded }) {
  const { webhook } = loaded;
  const { isOwner } = useWorkspace();
  const toasts = useToasts();
  const [rotation, setRotation] = useState<Rotation>();
  const [issued, setIssued] = useState<string>();
  const [revoked, setRevoked] = useState<Webhook['secrets'][number]>();
  const path = { id: webhook._id };
  const refresh = useRefresh('webhooks');
  const rotate = useChange(({ opened, overlap }: Rotation, scope) => {
    const body = { overlapHours: quantityOf(overlap) ?? 0 };
    // It may end secrets that are shown, and none that somebody else has made meanwhile.
    return saveOver(opened, idsIn, {
      load: () => callIn(scope, 'GET /v1/webhooks/{id}', { path }),
      save: (ifMatch) => callIn(scope, 'POST /v1/webhooks/{id}/secrets', { path, body, ifMatch }),
    });
  }, 'webhooks');
  const revoke = useChange(async (secretId: string) => {
    await untilGone(call('DELETE /v1/webhooks/{id}/secrets/{secretId}', { path: { ...path, secretId } }));
    toasts.say('The secret is revoked.');
  }, 'webhooks');
  return (
    <section className="card" aria-label="Secrets">
      <div className="card-head">
        <p className="quiet">Each request is signed with every secret that has not ended.</p>
        {isOwner && (
          <Button
            icon="refresh"
            onClick={() => {
              rotate.reset();
              setRotation({ opened: loaded, overlap: '24' });
            }}
          >
            Rotate
          </Button>
        )}
      </div>
      <ul>
        {webhook.secrets.map((secret, index) => (
          <li key={secret._id} className="list-row center">
            <div className="grow">
              <p>
                <code>{secret.hint}</code>
              </p>
              <p className="quiet small">
                created <RelativeTime time={secret.createdAt} />
                {secret.expiresAt && (
                  <>
                    , ends <RelativeTime time={secret.expiresAt} />
                  </>
                )}
              </p>
            </div>
            {/* The newest one is first, and only another one replaces it. */}
            {isOwner && index > 0 && (
              <Button look="danger" aria-label={`Revoke ${secret.hint}`} onClick={() => setRevoked(secret)}>
                Revoke
              </Button>
            )}
          </li>
        ))}
      </ul>
      {rotation && (
        <FormDialog
          title="Rotate the secret"
          action="Rotate"
          isBusy={rotate.isPending}
          error={rotate.error}
          problem={isElsewhere(rotate.error, ['overlapHours']) ? messageOf(rotate.error) : undefined}
          onSubmit={() =>
            rotate.mutate(rotation, {
              onSuccess: ({ webhook: { secrets } }) => {
                setRotation(undefined);
                setIssued(secrets.find(({ secret }) => secret !== undefined)?.secret);
              },
              onError: (error) => isOutdated(error) && void refresh(),
            })
          }
          onClose={() => setRotation(undefined)}
        >
          <TextField
            label="Overlap"
            unit="h"
            inputMode="decimal"
            hint="For this time the old secret signs requests too, while you change your receiver. 0: it ends at once"
            value={rotation.overlap}
            problem={problemAt(rotate.error, 'overlapHours')}
            onChange={(overlap) => setRotation({ ...rotation, overlap })}
          />
        </FormDialog>
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
          onConfirm={() => revoke.mutate(revoked._id, { onSuccess: () => setRevoked(undefined) })}
        >
          <p>Receivers that verify with it refuse requests from now on.</p>
        </Confirm>
      )}
    </section>
  );
}
