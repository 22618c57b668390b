/** The secret of a new webhook, which is shown once. */
import { useLocation } from 'wouter';
import type { Webhook } from '../../client/types';
import { Issued } from '../components/controls';

/** Shows the secret of a webhook that was just created, and leads to the webhook. */
export function IssuedSecret({ created }: { readonly created: Webhook }) {
  const [, navigate] = useLocation();
  return (
    <Issued
      title="The signing secret"
      text={created.secrets[0]?.secret ?? ''}
      copyLabel="Copy the secret"
      onClose={() => navigate(`/webhooks/${created._id}`)}
    >
      With it your receiver verifies that requests come from this server. It is shown only this once.
    </Issued>
  );
}
