/** Asks for the password again when a session ends while a view has unsaved changes, and leaves the view as it is. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { Session } from '../../client/types';
import { call } from '../client/call';
import { Button, Dialog, TextField } from '../components/controls';
import { FormDialog } from '../components/form';
import { messageOf } from '../components/toasts';
import { isElsewhere, problemAt } from '../forms/draft';
import { dismissSessionEnd, resumeSession } from '../state/session';

const title = 'Your session has ended';

export function SignInAgain({ session }: { readonly session: Session }) {
  return session.account ? <ByPassword email={session.account.email} /> : <ByLink />;
}

function ByPassword({ email }: { readonly email: string }) {
  const client = useQueryClient();
  const [password, setPassword] = useState('');
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call('POST /v1/signin', { body: { email, password } }),
    onSuccess: (answer) => resumeSession(client, answer.session),
    networkMode: 'always',
  });
  return (
    <FormDialog
      title={title}
      action="Sign in"
      isBusy={isPending}
      error={error}
      problem={isElsewhere(error, ['password']) ? messageOf(error) : undefined}
      onSubmit={() => mutate()}
      onClose={dismissSessionEnd}
    >
      <p>Sign in again as {email}. This page keeps what it shows and what you have typed; save it afterwards.</p>
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        problem={problemAt(error, 'password')}
        onChange={setPassword}
      />
    </FormDialog>
  );
}

/** A one-time link works in another tab, which shares its session with this one. */
const ByLink = () => (
  <Dialog title={title} onClose={dismissSessionEnd}>
    <div className="dialog-body">
      <p>Open another one-time link in a new tab. This page keeps what it shows and what you have typed.</p>
    </div>
    <div className="dialog-foot">
      <Button look="primary" onClick={dismissSessionEnd}>
        Continue
      </Button>
    </div>
  </Dialog>
);
