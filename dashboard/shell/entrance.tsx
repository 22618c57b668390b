/** Signing in and up, and what the links of mails ask for. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { Session } from '../../client/types';
import { type Answer, call, Failure } from '../client/call';
import { Button, Loading, Notice } from '../components/controls';
import { Logo } from '../components/icons';
import { NewKeys } from '../components/new-keys';
import { messageOf } from '../components/toasts';
import { useLostFocus } from '../state/lost-focus';
import { areMailsSent, isSignUpOn } from '../state/server-facts';
import { replaceSession } from '../state/session';
import { useHeld } from '../state/unsaved';
import { BackButton, CallForm, Heading, LinkButton } from './call-form';
import { type Issued, NoProject } from './no-project';
import type { Purpose } from './purpose';

type View = 'sign-in' | 'sign-up' | 'forgotten' | Purpose['kind'];

interface Props {
  readonly purpose: Purpose | undefined;
  /** The session, where it belongs to no project, or not to the one that the address names. */
  readonly session?: Session;
  /** Whether a session ended on its own. */
  readonly hasEnded?: boolean;
  /** What a sign-up created here: it is shown until the user continues. */
  readonly issued?: Issued | undefined;
  onIssued?(issued: Issued): void;
  onDone(): void;
}

/** Shows what people see who are not in a project: signing in and up, links of mails, and the keys of a sign-up. */
export function Entrance(props: Props) {
  const { purpose, session, hasEnded = false, issued, onIssued = () => {}, onDone } = props;
  const [view, setView] = useState<View>(purpose?.kind ?? 'sign-in');
  const [told, setTold] = useState<string>();
  const token = purpose?.token ?? '';
  const main = useRef<HTMLElement>(null);
  useLostFocus(main);
  useEffect(() => setView(purpose?.kind ?? 'sign-in'), [purpose]);

  const show = (next: View, text?: string) => {
    setTold(text);
    setView(next);
  };
  const parts = { token, show, onDone, onIssued };
  return (
    <div className="entrance">
      <main className="entrance-card" ref={main}>
        <span className="brand">
          <Logo size={26} /> Fenceline
        </span>
        <div className="card">
          {told !== undefined && (
            <Notice tone="success" role="status">
              {told}
            </Notice>
          )}
          {hasEnded && view === 'sign-in' && told === undefined && (
            <Notice role="status">
              Your session has ended. Nothing was changed after that. Sign in again to go on.
            </Notice>
          )}
          {issued ? (
            <SignedUp {...issued} onDone={onDone} />
          ) : session ? (
            <NoProject session={session} onIssued={onIssued} />
          ) : (
            <Forms view={view} {...parts} />
          )}
        </div>
      </main>
      <p className="foot">
        <a href="/docs">API reference</a>
      </p>
    </div>
  );
}

interface FormParts {
  readonly token: string;
  show(view: View, text?: string): void;
  onDone(): void;
  onIssued(issued: Issued): void;
}

function Forms({ view, ...parts }: FormParts & { readonly view: View }) {
  switch (view) {
    case 'sign-in':
      return <SignIn {...parts} />;
    case 'sign-up':
      return <SignUp {...parts} />;
    case 'forgotten':
      return <Forgotten {...parts} />;
    case 'signin':
      return <OneTimeLink {...parts} />;
    case 'invitation':
      return <Invitation {...parts} />;
    case 'reset':
      return <Reset {...parts} />;
    case 'confirm':
      return <Confirmation {...parts} />;
  }
}

/** Returns a function that puts the session in place, which shows the dashboard. */
function useSignedIn(onDone: () => void) {
  const client = useQueryClient();
  return (session: Answer<'POST /v1/signin'>['session']) => {
    replaceSession(client, session);
    onDone();
  };
}

function SignIn({ show, onDone }: FormParts) {
  const signedIn = useSignedIn(onDone);
  return (
    <CallForm
      title="Sign in"
      operation="POST /v1/signin"
      fields={['email', 'password']}
      action="Sign in"
      input={({ email, password }) => ({ body: { email, password } })}
      then={({ session }) => signedIn(session)}
      more={
        <div className="spread small">
          <LinkButton onClick={() => show('forgotten')}>Forgot the password?</LinkButton>
          {isSignUpOn && <LinkButton onClick={() => show('sign-up')}>Create an account</LinkButton>}
        </div>
      }
    />
  );
}

const afterSignUp = areMailsSent
  ? 'Open the link in the mail that was sent to you.'
  : 'No mails are sent here. Your link is in the outbox folder: ask the operator of the server for it.';

function SignUp({ show, onIssued }: FormParts) {
  return (
    <CallForm
      title="Create an account"
      intro="It comes with a project of its own."
      operation="POST /v1/signup"
      fields={['email', 'newPassword', 'project']}
      action="Create account"
      input={({ email, newPassword, project }) => ({
        body: { email, password: newPassword, ...(project && { project }) },
      })}
      then={({ project, session }) => {
        if (session && project) {
          onIssued({ project, session });
        } else show('sign-in', `${afterSignUp} It works once, within an hour.`);
      }}
      more={
        <span className="small">
          <LinkButton onClick={() => show('sign-in')}>Sign in instead</LinkButton>
        </span>
      }
    />
  );
}

const reset = areMailsSent
  ? {
      intro: 'If the address has an account, it gets a link by mail.',
      after: 'If the address has an account, a mail is on its way.',
    }
  : {
      intro: 'No mails are sent here. The link goes to the outbox folder, where the operator of the server finds it.',
      after: 'If the address has an account, its link is in the outbox folder. Ask the operator of the server for it.',
    };

function Forgotten({ show }: FormParts) {
  return (
    <CallForm
      title="Reset the password"
      intro={reset.intro}
      operation="POST /v1/password/reset"
      fields={['email']}
      action="Send the link"
      input={({ email }) => ({ body: { email } })}
      then={() => show('sign-in', reset.after)}
      more={<BackButton onClick={() => show('sign-in')} />}
    />
  );
}

/** A link of a mail that was used or is too old leads no further. */
const WithoutLink = ({ onDone }: Pick<FormParts, 'onDone'>) => (
  <span className="small">
    <LinkButton onClick={onDone}>Go on without this link</LinkButton>
  </span>
);

function OneTimeLink({ token, onDone }: FormParts) {
  const signedIn = useSignedIn(onDone);
  return (
    <CallForm
      title="Sign in by the one-time link"
      intro="You become an owner of the project, without an account. The link works once."
      operation="POST /v1/signin/link"
      fields={[]}
      action="Sign in"
      input={() => ({ body: { token } })}
      then={({ session }) => signedIn(session)}
      more={<WithoutLink onDone={onDone} />}
    />
  );
}

const isSpent = (error: unknown): boolean => error instanceof Failure && error.status === 401;

/** Says to what, as what and by which address, before anything is typed. */
function Invitation({ token, onDone }: FormParts) {
  const signedIn = useSignedIn(onDone);
  // A read that changes nothing is a POST, because the token must not be in an address.
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) => call('POST /v1/invitations/preview', { body: { token }, signal }),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const { data, error, isFetching, refetch } = preview;
  if (data === undefined) {
    return (
      <>
        <Heading>Accept the invitation</Heading>
        {error ? (
          <>
            <Notice tone="danger" role="alert">
              {isSpent(error)
                ? 'This invitation is used, withdrawn or expired. Ask an owner of the project for another one.'
                : messageOf(error)}
            </Notice>
            {!isSpent(error) && (
              <Button isBusy={isFetching} onClick={() => void refetch()}>
                Try again
              </Button>
            )}
          </>
        ) : (
          <Loading rows={2} />
        )}
        <WithoutLink onDone={onDone} />
      </>
    );
  }
  const { project, email, role, hasAccount } = data.invitation;
  return (
    <CallForm
      title={
        <>
          Join <bdi>{project}</bdi>
        </>
      }
      intro={
        <>
          You are invited as {role === 'owner' ? 'an owner' : 'a viewer'}, by the address <bdi>{email}</bdi>.{' '}
          {hasAccount ? 'It has an account here.' : 'An account is created for it.'}
        </>
      }
      username={email}
      operation="POST /v1/invitations/accept"
      fields={[hasAccount ? 'password' : 'newPassword']}
      action="Accept"
      input={({ password, newPassword }) => ({ body: { token, password: hasAccount ? password : newPassword } })}
      then={({ session }) => signedIn(session)}
      more={<WithoutLink onDone={onDone} />}
    />
  );
}

function Reset({ token, show, onDone }: FormParts) {
  return (
    <CallForm
      title="Choose a new password"
      operation="POST /v1/password/reset/confirm"
      fields={['newPassword']}
      action="Set password"
      input={({ newPassword }) => ({ body: { token, password: newPassword } })}
      then={() => show('sign-in', 'Your password is changed. Sign in with it.')}
      more={<WithoutLink onDone={onDone} />}
    />
  );
}

function Confirmation({ token, onIssued, onDone }: FormParts) {
  return (
    <CallForm
      title="Create your account"
      operation="POST /v1/signup/confirm"
      fields={[]}
      action="Create account"
      input={() => ({ body: { token } })}
      then={({ project, session }) => {
        if (project && session) onIssued({ project, session });
      }}
      more={<WithoutLink onDone={onDone} />}
    />
  );
}

function SignedUp({ project, session, onDone }: Issued & { onDone(): void }) {
  const signedIn = useSignedIn(onDone);
  useHeld('secret');
  return (
    <>
      <div>
        <Heading>Your keys</Heading>
        <p className="quiet">They are shown only this once. Keep secret keys on your servers.</p>
      </div>
      <NewKeys project={project} />
      <Button look="primary" onClick={() => signedIn(session)}>
        Continue
      </Button>
    </>
  );
}
