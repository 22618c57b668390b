/** Sends the events of a range of time again: pages of the API, one after the other. */
import { useState } from 'react';
import { callIn } from '../client/call';
import { useChange } from '../client/hooks';
import { Check, TextField } from '../components/controls';
import { counted } from '../components/counts';
import { FormDialog } from '../components/form';
import { zoneAt } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { problemAt } from '../forms/draft';

/** Returns the time of an input, which is in the browser's zone, as the API takes it. */
const instantOf = (text: string): string | undefined => {
  const time = new Date(text);
  return text === '' || Number.isNaN(time.getTime()) ? undefined : time.toISOString();
};

/** Returns the time as an input of the browser's zone takes it, an hour ago. */
function hourAgo(): string {
  const time = new Date(Date.now() - 3_600_000);
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Sends the events of a range of time again, page by page. */
export function ResendDialog({ webhook, onClose }: { readonly webhook: string; onClose(): void }) {
  const toasts = useToasts();
  const [from, setFrom] = useState(hourAgo);
  const [to, setTo] = useState('');
  const [isFailedOnly, setFailedOnly] = useState(true);
  const [sent, setSent] = useState(0);
  const resend = useChange(async (_: undefined, scope) => {
    let deliveries = 0;
    for (let cursor: string | undefined, hasMore = true; hasMore; ) {
      const range = { from: instantOf(from), to: instantOf(to), ...(isFailedOnly && { state: 'failed' as const }) };
      const body = { ...range, cursor } as { from: string };
      const answer = await callIn(scope, 'POST /v1/webhooks/{id}/redeliver', { path: { id: webhook }, body });
      deliveries += answer.deliveries;
      setSent(deliveries);
      ({ hasMore, cursor } = answer.meta);
    }
    toasts.say(`${counted(deliveries, 'delivery is', 'deliveries are')} queued.`);
  }, 'webhooks');
  const { error } = resend;
  const isAtField = (problemAt(error, 'from') ?? problemAt(error, 'to')) !== undefined;
  return (
    <FormDialog
      title="Send a range again"
      action="Send again"
      isBusy={resend.isPending}
      error={error}
      problem={
        error && !isAtField
          ? `${sent > 0 ? `${counted(sent, 'delivery is', 'deliveries are')} queued. ` : ''}${messageOf(error)}`
          : undefined
      }
      onClose={onClose}
      onSubmit={() => resend.mutate(undefined, { onSuccess: onClose })}
    >
      <p className="quiet">
        Events are sent as they were then, under the same <code>webhook-id</code>, so that receivers can tell.
      </p>
      <div className="form-grid">
        <TextField
          label="Events from"
          type="datetime-local"
          hint={`Times are in ${zoneAt(new Date())}`}
          value={from}
          problem={problemAt(error, 'from')}
          onChange={setFrom}
        />
        <TextField
          label="To"
          type="datetime-local"
          hint="Empty: the newest"
          value={to}
          problem={problemAt(error, 'to')}
          onChange={setTo}
        />
      </div>
      <Check
        label="Only what was not delivered"
        hint="Events whose last attempt failed"
        isChecked={isFailedOnly}
        onChange={setFailedOnly}
      />
    </FormDialog>
  );
}
