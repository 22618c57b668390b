/** The account of the session: its projects, its password, its sessions, and its end. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { navigate as goTo } from 'wouter/use-browser-location';
import type { Project, Session } from '../../client/types';
import { type Answer, call, callLast, Failure, untilGone } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { useAction } from '../components/action';
import { Badge, Button, Dialog, Loading, Notice, Page, TextField } from '../components/controls';
import { Form, FormDialog } from '../components/form';
import { LoadProblem } from '../components/load-problem';
import { NewKeys, rememberKeys } from '../components/new-keys';
import { RelativeTime } from '../components/relative-time';
import { RoleBadge } from '../components/role-badge';
import { absoluteTime } from '../components/time';
import { messageOf, useToasts } from '../components/toasts';
import { isElsewhere, problemAt } from '../forms/draft';
import { Section } from '../forms/parts';
import { passwordIsChanged, replaceSession, resumeSession, sessionKey, signOut, useWorkspace } from '../state/session';
import { useUnsaved } from '../state/unsaved';

export default function AccountView() {
  const { session } = useWorkspace();
  const { account } = session;
  return (
    <Page
      title="Account"
      isNarrow
      intro={account ? `You are signed in as ${account.email}.` : 'You are signed in by a one-time link.'}
    >
      {!account && (
        <Notice>
          This session has no account, and ends {absoluteTime(session.expiresAt)}.{' '}
          <Link href="/members">Invite yourself</Link> to get one.
        </Notice>
      )}
      <Projects />
      {account && <Password email={account.email} />}
      <Sessions hasAccount={account !== null} expiresAt={session.expiresAt} />
      {account && <Deletion account={account} />}
    </Page>
  );
}

function Projects() {
  const { session, project: chosen, chooseProject } = useWorkspace();
  const client = useQueryClient();
  const [isCreating, setCreating] = useState(false);
  const [created, setCreated] = useState<Project>();
  const toasts = useToasts();
  const [, navigate] = useLocation();
  return (
    <section className="card" aria-label="Projects">
      <div className="card-head">
        <h2>Projects</h2>
        {session.account && (
          <Button isCompact icon="plus" onClick={() => setCreating(true)}>
            New project
          </Button>
        )}
      </div>
      <ul>
        {session.projects.map(({ _id, name, role }) => (
          <li key={_id} className="list-row center">
            <div className="grow">
              <p className="label truncate left" dir="auto">
                {name}
              </p>
              <p className="quiet small truncate">
                <code>{_id}</code>
              </p>
            </div>
            <RoleBadge role={role} />
            {_id === chosen._id ? (
              <Link href="/settings" className="button" aria-label={`Settings of ${name}`}>
                Settings
              </Link>
            ) : (
              <Button
                aria-label={`Open ${name}`}
                onClick={() => {
                  chooseProject(_id);
                  toasts.say(`You are in ${name}.`);
                }}
              >
                Open
              </Button>
            )}
          </li>
        ))}
      </ul>
      {isCreating && (
        <NewProject
          onClose={() => setCreating(false)}
          onCreated={(project, session) => {
            rememberKeys(project);
            setCreating(false);
            setCreated(project);
            client.setQueryData(sessionKey, session);
          }}
        />
      )}
      {created && (
        <Dialog title={`The keys of ${created.name}`} holds="secret" onClose={() => setCreated(undefined)}>
          <div className="dialog-body">
            <p>They are shown only this once. Keep secret keys on your servers.</p>
            <NewKeys project={created} />
          </div>
          <div className="dialog-foot">
            <Button
              look="primary"
              onClick={() => {
                chooseProject(created._id);
                navigate('/start');
              }}
            >
              Open the project
            </Button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function NewProject({ onCreated, onClose }: { onCreated(project: Project, session: Session): void; onClose(): void }) {
  const [name, setName] = useState('');
  const create = useChange(() => call('POST /v1/account/projects', { body: { name } }));
  return (
    <FormDialog
      title="New project"
      action="Create project"
      isBusy={create.isPending}
      error={create.error}
      problem={isElsewhere(create.error, ['name']) ? messageOf(create.error) : undefined}
      onSubmit={() => create.mutate(undefined, { onSuccess: ({ project, session }) => onCreated(project, session) })}
      onClose={onClose}
    >
      <p className="quiet">A project has geofences, users, keys and members of its own, in Test and in Live.</p>
      <TextField label="Name" value={name} problem={problemAt(create.error, 'name')} onChange={setName} />
    </FormDialog>
  );
}

const noPasswords = { current: '', password: '' };

function Password({ email }: { readonly email: string }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const [values, setValues] = useState(noPasswords);
  useUnsaved(values.current !== '' || values.password !== '');
  const change = useChange(async (_: undefined, scope) => {
    const answer = await callLast(scope, 'PUT /v1/password', { body: values }, () =>
      // The first attempt has ended the session of the earlier password.
      call('POST /v1/signin', { body: { email, password: values.password } }),
    );
    toasts.say(passwordIsChanged);
    return answer;
  }, 'sessions');
  const field = (name: keyof typeof noPasswords) => ({
    type: 'password',
    value: values[name],
    problem: problemAt(change.error, name),
    onChange: (value: string) => setValues((all) => ({ ...all, [name]: value })),
  });
  function submit() {
    change.mutate(undefined, {
      onSuccess: ({ session }) => {
        resumeSession(client, session);
        setValues(noPasswords);
      },
    });
  }
  return (
    <Section title="Password">
      <Form className="stack" label="Password" error={change.error} onSubmit={submit}>
        <div className="form-grid">
          <TextField label="Current password" autoComplete="current-password" {...field('current')} />
          <TextField
            label="New password"
            autoComplete="new-password"
            hint="At least 12 characters, without your address"
            {...field('password')}
          />
        </div>
        {isElsewhere(change.error, ['current', 'password']) && (
          <Notice tone="danger" role="alert">
            {messageOf(change.error)}
          </Notice>
        )}
        <div className="row">
          <Button type="submit" isBusy={change.isPending}>
            Change password
          </Button>
          <span className="quiet small">This ends all other sessions.</span>
        </div>
      </Form>
    </Section>
  );
}

function Sessions({ hasAccount, expiresAt }: { readonly hasAccount: boolean; readonly expiresAt: string }) {
  const client = useQueryClient();
  const end = useAction((isEverywhere: boolean) => signOut(client, isEverywhere));
  return (
    <Section title="Sessions">
      <p className="quiet">
        This session ends {absoluteTime(expiresAt)} at the latest, and sooner when it is not used.
        {hasAccount && ' Sign out a browser that you do not know, and change the password.'}
      </p>
      <Browsers />
      <div className="row">
        <Button icon="out" isBusy={end.isPending && !end.variables} onClick={() => end.mutate(false)}>
          Sign out
        </Button>
        {hasAccount && (
          <Button isBusy={end.isPending && end.variables} onClick={() => end.mutate(true)}>
            Sign out everywhere
          </Button>
        )}
      </div>
    </Section>
  );
}

type Browser = Answer<'GET /v1/sessions'>['sessions'][number];

/** The browsers that are signed in to the account, and by one-time links to projects that it owns. */
function Browsers() {
  const { session } = useWorkspace();
  const toasts = useToasts();
  const listed = useApi('GET /v1/sessions', {});
  const end = useAction(async ({ _id: id, userAgent }: Browser) => {
    await untilGone(call('DELETE /v1/sessions/{id}', { path: { id } }));
    toasts.say(`${browserName(userAgent)} is signed out.`);
  }, 'sessions');
  if (listed.error) return <LoadProblem query={listed} isInCard />;
  if (listed.data === undefined) return <Loading />;
  return (
    <ul aria-label="Signed-in browsers">
      {listed.data.sessions.map((browser) => (
        <li key={browser._id} className="list-row center">
          <div className="grow">
            <p className="label truncate" title={browser.userAgent ?? undefined}>
              {browserName(browser.userAgent)}
            </p>
            <p className="quiet small truncate">
              Signed in {absoluteTime(browser.startedAt)}, used <RelativeTime time={browser.usedAt} />
            </p>
            {browser.project !== null && (
              <p className="quiet small truncate">
                By a one-time link to <bdi>{session.projects.find(({ _id }) => _id === browser.project)?.name}</bdi>
              </p>
            )}
          </div>
          {browser.current ? (
            <Badge tone="accent">This browser</Badge>
          ) : (
            <Button
              isBusy={end.isPending && end.variables._id === browser._id}
              aria-label={`Sign out ${browserName(browser.userAgent)}`}
              onClick={() => end.mutate(browser)}
            >
              Sign out
            </Button>
          )}
        </li>
      ))}
    </ul>
  );
}

/** In this order, because browsers also name those that they are compatible with. */
const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari', 'curl'] as const;
const browserNames: Readonly<Record<string, string>> = { Edg: 'Edge', OPR: 'Opera' };
const systems = ['Android', 'iPhone', 'iPad', 'Windows', 'Mac OS X', 'CrOS', 'Linux'] as const;
const systemNames: Readonly<Record<string, string>> = { 'Mac OS X': 'macOS', CrOS: 'ChromeOS' };

/** Returns for example "Firefox on Windows". */
function browserName(userAgent: string | null): string {
  const browser = browsers.find((name) => userAgent?.includes(`${name}/`));
  const system = systems.find((name) => userAgent?.includes(name));
  const [name, place] = [browser && (browserNames[browser] ?? browser), system && (systemNames[system] ?? system)];
  if (name === undefined) return userAgent?.split(' ')[0]?.slice(0, 40) || 'Unknown browser';
  return place === undefined ? name : `${name} on ${place}`;
}

function Deletion({ account }: { readonly account: NonNullable<Session['account']> }) {
  const [isAsking, setAsking] = useState(false);
  return (
    <Section title="Delete the account">
      <p className="quiet">
        You leave all projects, and your address is deleted. Projects, their geofences and their keys stay. While others
        use a project of which you are the only owner, make one of them an owner first. A project that only you use is
        left to the operator of this server, unless you delete it before.
      </p>
      <div>
        <Button look="danger" icon="trash" onClick={() => setAsking(true)}>
          Delete account
        </Button>
      </div>
      {isAsking && <ConfirmDeletion email={account.email} onClose={() => setAsking(false)} />}
    </Section>
  );
}

/** Resolves if the account is gone. Otherwise the session has ended for another reason: signs in again, and rejects. */
async function deleted(
  client: QueryClient,
  email: string,
  password: string,
): Promise<Answer<'POST /v1/account/delete'>> {
  try {
    const { session } = await call('POST /v1/signin', { body: { email, password } });
    resumeSession(client, session);
  } catch (error) {
    if (error instanceof Failure && error.status === 401) return { meta: { code: 200 } };
    throw error;
  }
  throw new Failure(401, { message: 'Your session had ended. The account is not deleted. Try again.' });
}

function ConfirmDeletion({ email, onClose }: { readonly email: string; onClose(): void }) {
  const client = useQueryClient();
  const [typed, setTyped] = useState('');
  const [password, setPassword] = useState('');
  const toasts = useToasts();
  const remove = useChange(async (_: undefined, scope) => {
    await callLast(scope, 'POST /v1/account/delete', { body: { password } }, () => deleted(client, email, password));
    replaceSession(client, null);
    goTo('/');
    toasts.say('Your account is deleted.');
  });
  const isRight = typed.trim().toLowerCase() === email.toLowerCase();
  return (
    <FormDialog
      title="Delete your account?"
      action="Delete account"
      isDangerous
      isReady={isRight}
      isBusy={remove.isPending}
      error={remove.error}
      problem={isElsewhere(remove.error, ['password']) ? messageOf(remove.error) : undefined}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined)}
    >
      <p>
        This cannot be undone. To confirm, type <strong>{email}</strong> and your password.
      </p>
      <TextField label="Email" autoComplete="off" value={typed} onChange={setTyped} />
      <TextField
        label="Password"
        type="password"
        autoComplete="current-password"
        value={password}
        problem={problemAt(remove.error, 'password')}
        onChange={setPassword}
      />
    </FormDialog>
  );
}
