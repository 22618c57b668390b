/** Signing in and up, and what the links of mails ask for. */
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Project, Session } from '../../client/types';
import { type Answer, call, type Input, type Operation } from '../client/call';
import { Button, Notice, TextField } from '../components/controls';
import { Form } from '../components/form';
import { Logo } from '../components/icons';
import { NewKeys } from '../components/new-keys';
import { messageOf, useToasts } from '../components/toasts';
import { isElsewhere, problemAt } from '../forms/draft';
import { passwordIsChanged, replaceSession, sessionKey } from '../state/session';
import { useHeld } from '../state/unsaved';
import type { Purpose } from './purpose';

const isSignUpOn = document.querySelector<HTMLMetaElement>('meta[name="sign-up"]')?.content === 'on';

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
  useEffect(() => setView(purpose?.kind ?? 'sign-in'), [purpose]);

  const show = (next: View, text?: string) => {
    setTold(text);
    setView(next);
  };
  const parts = { token, show, onDone, onIssued };
  return (
    <div className="entrance">
      <main className="entrance-card">
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
            <Notice role="status">Your session has ended. Sign in again to go on.</Notice>
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

/** What a sign-up created. */
export interface Issued {
  readonly project: Project;
  readonly session: Session;
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

interface FormProps<O extends Operation> {
  readonly title: string;
  readonly intro?: string;
  readonly operation: O;
  readonly fields: readonly FieldName[];
  readonly action: string;
  readonly more?: ReactNode;
  input(values: Values): Input<O>;
  then(answer: Answer<O>): void;
}

type FieldName =
  | 'email'
  | 'password'
  | 'newPassword'
  | 'anyPassword'
  | 'presentPassword'
  | 'nextPassword'
  | 'project'
  | 'name';
type Values = Record<FieldName, string>;

const fieldsOf = {
  email: { label: 'Email', type: 'email', autoComplete: 'username', param: 'email', hint: undefined },
  password: {
    label: 'Password',
    type: 'password',
    autoComplete: 'current-password',
    param: 'password',
    hint: undefined,
  },
  newPassword: {
    label: 'Password',
    type: 'password',
    autoComplete: 'new-password',
    param: 'password',
    hint: 'At least 12 characters',
  },
  anyPassword: {
    label: 'Password',
    type: 'password',
    autoComplete: 'current-password',
    param: 'password',
    hint: 'Of your account, or of a new one: at least 12 characters',
  },
  presentPassword: {
    label: 'Current password',
    type: 'password',
    autoComplete: 'current-password',
    param: 'current',
    hint: undefined,
  },
  nextPassword: {
    label: 'New password',
    type: 'password',
    autoComplete: 'new-password',
    param: 'password',
    hint: 'At least 12 characters, without your address',
  },
  project: {
    label: 'Project',
    type: 'text',
    autoComplete: 'organization',
    param: 'project',
    hint: 'You can create geofences and keys in it',
  },
  name: { label: 'Name', type: 'text', autoComplete: 'organization', param: 'name', hint: undefined },
} as const;

const noValues: Values = {
  email: '',
  password: '',
  newPassword: '',
  anyPassword: '',
  presentPassword: '',
  nextPassword: '',
  project: '',
  name: '',
};

/** A form that sends one call, and shows at the field what the validator says. */
function CallForm<O extends Operation>({ title, intro, operation, fields, action, more, input, then }: FormProps<O>) {
  const [values, setValues] = useState(noValues);
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const params = fields.map((name) => fieldsOf[name].param);

  async function submit() {
    setBusy(true);
    setProblem(undefined);
    try {
      then(await call(operation, input(values)));
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  }
  return (
    <Form error={problem} onSubmit={() => void submit()}>
      <div>
        <h1>{title}</h1>
        {intro && <p className="quiet">{intro}</p>}
      </div>
      {fields.map((name, index) => {
        const { label, type, autoComplete, hint, param: at } = fieldsOf[name];
        return (
          <TextField
            key={name}
            label={label}
            hint={hint}
            type={type}
            autoComplete={autoComplete}
            autoFocus={index === 0}
            value={values[name]}
            problem={problemAt(problem, at)}
            onChange={(value) => setValues((all) => ({ ...all, [name]: value }))}
          />
        );
      })}
      {isElsewhere(problem, params) && (
        <Notice tone="danger" role="alert">
          {messageOf(problem)}
        </Notice>
      )}
      <Button type="submit" look="primary" isBusy={isBusy}>
        {action}
      </Button>
      {more}
    </Form>
  );
}

const LinkButton = ({ children, onClick }: { readonly children: ReactNode; onClick(): void }) => (
  <button type="button" className="link-button" onClick={onClick}>
    {children}
  </button>
);

const BackButton = ({ onClick }: { onClick(): void }) => (
  <span className="small">
    <LinkButton onClick={onClick}>Back</LinkButton>
  </span>
);

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
        } else show('sign-in', 'Open the link in the mail that was sent to you. It works once, within an hour.');
      }}
      more={
        <span className="small">
          <LinkButton onClick={() => show('sign-in')}>Sign in instead</LinkButton>
        </span>
      }
    />
  );
}

function Forgotten({ show }: FormParts) {
  return (
    <CallForm
      title="Reset the password"
      intro="If the address has an account, it gets a link by mail."
      operation="POST /v1/password/reset"
      fields={['email']}
      action="Send the link"
      input={({ email }) => ({ body: { email } })}
      then={() => show('sign-in', 'If the address has an account, a mail is on its way.')}
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

function Invitation({ token, onDone }: FormParts) {
  const signedIn = useSignedIn(onDone);
  return (
    <CallForm
      title="Accept the invitation"
      operation="POST /v1/invitations/accept"
      fields={['anyPassword']}
      action="Accept"
      input={({ anyPassword }) => ({ body: { token, password: anyPassword } })}
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
        <h1>Your keys</h1>
        <p className="quiet">They are shown only this once. Keep secret keys on your servers.</p>
      </div>
      <NewKeys project={project} />
      <Button look="primary" onClick={() => signedIn(session)}>
        Continue
      </Button>
    </>
  );
}

interface NoProjectProps extends Pick<FormParts, 'onIssued'> {
  readonly session: Session;
}

/** What an account does without a project. One that has another project changes its password there. */
function NoProject({ session: { account, projects: others }, onIssued }: NoProjectProps) {
  const [task, setTask] = useState<'password' | 'deletion'>();
  const finish = () => setTask(undefined);
  if (task === 'password') return <PasswordChange onDone={finish} />;
  if (task === 'deletion') return <AccountDeletion onDone={finish} />;
  return (
    <div className="stack">
      {others.length > 0 ? (
        <>
          <h1>Not your project</h1>
          <p className="quiet">
            You are not a member of the project that this address names, or it was deleted. Open another one:
          </p>
          {others.map(({ _id, name }) => (
            <Link key={_id} className="button" href={`/?project=${_id}`} dir="auto">
              {name}
            </Link>
          ))}
        </>
      ) : isSignUpOn ? (
        <NewProject onIssued={onIssued} />
      ) : (
        <>
          <h1>No project</h1>
          <p className="quiet">
            Your account belongs to no project. Ask an owner of a project for an invitation, or the operator of this
            server for a project. While sign-up is off, only owners of a project create further ones.
          </p>
        </>
      )}
      <SignOut />
      {account && others.length === 0 && (
        <div className="spread small">
          <LinkButton onClick={() => setTask('password')}>Change the password</LinkButton>
          <LinkButton onClick={() => setTask('deletion')}>Delete the account</LinkButton>
        </div>
      )}
    </div>
  );
}

function PasswordChange({ onDone }: Pick<FormParts, 'onDone'>) {
  const client = useQueryClient();
  const toasts = useToasts();
  return (
    <CallForm
      title="Change the password"
      intro="This ends all other sessions."
      operation="PUT /v1/password"
      fields={['presentPassword', 'nextPassword']}
      action="Change password"
      input={({ presentPassword, nextPassword }) => ({ body: { current: presentPassword, password: nextPassword } })}
      then={({ session }) => {
        client.setQueryData(sessionKey, session);
        toasts.say(passwordIsChanged);
        onDone();
      }}
      more={<BackButton onClick={onDone} />}
    />
  );
}

function AccountDeletion({ onDone }: Pick<FormParts, 'onDone'>) {
  const client = useQueryClient();
  return (
    <CallForm
      title="Delete the account"
      intro="Your address is deleted. This cannot be undone."
      operation="POST /v1/account/delete"
      fields={['password']}
      action="Delete account"
      input={({ password }) => ({ body: { password } })}
      then={() => replaceSession(client, null)}
      more={<BackButton onClick={onDone} />}
    />
  );
}

const NewProject = ({ onIssued }: Pick<FormParts, 'onIssued'>) => (
  <CallForm
    title="Create a project"
    intro="Your account belongs to no project. Create one here, or ask an owner of another one for an invitation."
    operation="POST /v1/account/projects"
    fields={['name']}
    action="Create project"
    input={({ name }) => ({ body: { name } })}
    then={onIssued}
  />
);

function SignOut() {
  const client = useQueryClient();
  const toasts = useToasts();
  const [isBusy, setBusy] = useState(false);
  async function signOut() {
    setBusy(true);
    try {
      await call('POST /v1/signout', { body: {} });
      replaceSession(client, null);
    } catch (error) {
      toasts.complain(error);
      setBusy(false);
    }
  }
  return (
    <Button isBusy={isBusy} onClick={() => void signOut()}>
      Sign out
    </Button>
  );
}
