/** What is shown: the entrance while nobody is signed in, else the shell with the view of the path. */
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import { Button, Notice } from './components/controls';
import { Logo } from './components/icons';
import { rememberKeys } from './components/new-keys';
import { messageOf } from './components/toasts';
import { Entrance } from './shell/entrance';
import type { Issued } from './shell/no-project';
import { readPurpose } from './shell/purpose';
import { ScopedRouter } from './shell/scoped-router';
import { Shell } from './shell/shell';
import { SignInAgain } from './shell/sign-in-again';
import { UnreachableBanner } from './shell/unreachable';
import { UnsavedQuestion } from './shell/unsaved';
import { scopeIn, withScope } from './state/scope-address';
import { useSession, useSessionEnd, useSharedSession, WorkspaceProvider } from './state/session';
import { Views } from './views';

export const App = () => (
  <>
    <Content />
    <UnsavedQuestion />
  </>
);

function Content() {
  const session = useSession();
  useSharedSession();
  const end = useSessionEnd();
  const [purpose, setPurpose] = useState(readPurpose);
  // Here, and not in the entrance: the session is there as soon as the keys are, so the entrance may go away any time.
  const [issued, setIssued] = useState<Issued>();
  const [path, navigate] = useLocation();

  // A link of a mail may be opened in a tab that shows the dashboard already.
  useEffect(() => {
    const read = () => {
      const next = readPurpose();
      if (next) setPurpose(next);
    };
    addEventListener('hashchange', read);
    return () => removeEventListener('hashchange', read);
  }, []);

  if (session.isPending && session.fetchStatus !== 'paused') {
    return (
      <div role="status" aria-label="Loading" className="app splash">
        <span className="brand">
          <Logo /> Fenceline
        </span>
        <div className="header" />
        <div className="nav" />
      </div>
    );
  }
  if (session.data === undefined) {
    return (
      <>
        <UnreachableBanner />
        <div className="entrance">
          <div className="entrance-card">
            <Notice tone="danger" role="alert">
              {session.error ? messageOf(session.error) : 'The server does not answer.'}
            </Notice>
            <Button onClick={() => void session.refetch()}>Try again</Button>
          </div>
        </div>
      </>
    );
  }
  function onIssued(next: Issued) {
    rememberKeys(next.project);
    setIssued(next);
  }
  if (issued || purpose || session.data === null) {
    return (
      <>
        <UnreachableBanner />
        <Entrance
          purpose={purpose}
          hasEnded={end === 'left'}
          issued={issued}
          onIssued={onIssued}
          onDone={() => {
            setIssued(undefined);
            setPurpose(undefined);
            // An invitation leads to the project that its link names. The address may name one that is no longer there.
            const scope = issued ? { project: issued.project._id, environment: undefined } : scopeIn(location.search);
            if (issued || (purpose && path === '/account')) navigate(withScope('/', scope), { replace: true });
          }}
        />
      </>
    );
  }
  return (
    <WorkspaceProvider
      // Nothing that one account has typed or chosen is another one's.
      key={session.data.account?._id ?? ''}
      session={session.data}
      // The server's answer is often what the browser remembers. It is news all the same: the address waits for it.
      isConfirmed={session.dataUpdatedAt > 0}
      withoutProject={<Entrance purpose={undefined} session={session.data} onIssued={onIssued} onDone={() => {}} />}
    >
      <ScopedRouter>
        <Shell>
          <Views />
        </Shell>
      </ScopedRouter>
      {end === 'kept' && <SignInAgain session={session.data} />}
    </WorkspaceProvider>
  );
}
