/** Shows what an account can do that belongs to no project, or not to the one that the address names. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Project, Session } from '../../client/types';
import { Button } from '../components/controls';
import { useToasts } from '../components/toasts';
import { isSignUpOn } from '../state/server-facts';
import { passwordIsChanged, replaceSession, sessionKey, signOut } from '../state/session';
import { BackButton, CallForm, Heading, LinkButton } from './call-form';

/** A project with its keys, and the session that has it. */
export interface Issued {
  readonly project: Project;
  readonly session: Session;
}

interface Props {
  readonly session: Session;
  onIssued(issued: Issued): void;
}

/** What an account does without a project. One that has another project changes its password there. */
export function NoProject({ session: { account, projects: others }, onIssued }: Props) {
  const [task, setTask] = useState<'password' | 'deletion'>();
  const finish = () => setTask(undefined);
  if (task === 'password') return <PasswordChange onDone={finish} />;
  if (task === 'deletion') return <AccountDeletion onDone={finish} />;
  return (
    <div className="stack">
      {others.length > 0 ? (
        <>
          <Heading>Not your project</Heading>
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
          <Heading>No project</Heading>
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

function PasswordChange({ onDone }: { onDone(): void }) {
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

function AccountDeletion({ onDone }: { onDone(): void }) {
  const client = useQueryClient();
  return (
    <CallForm
      title="Delete the account"
      intro="Your address is deleted. This cannot be undone."
      operation="POST /v1/account/delete"
      fields={['password']}
      action="Delete account"
      isDangerous
      input={({ password }) => ({ body: { password } })}
      then={() => replaceSession(client, null)}
      more={<BackButton onClick={onDone} />}
    />
  );
}

const NewProject = ({ onIssued }: Pick<Props, 'onIssued'>) => (
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
  async function start() {
    setBusy(true);
    try {
      await signOut(client, false);
    } catch (error) {
      toasts.complain(error);
      setBusy(false);
    }
  }
  return (
    <Button isBusy={isBusy} onClick={() => void start()}>
      Sign out
    </Button>
  );
}
