/** The keys of the environment: what they are for, and their replacement, which shows the new key once. */
import { useState } from 'react';
import type { Project } from '../../client/types';
import { call } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Button, Confirm, Issued, Loading, Notice, Page } from '../components/controls';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { messageOf } from '../components/toasts';
import { rememberKey } from '../state/fresh-keys';
import { useWorkspace } from '../state/session';

type Key = Project['keys'][number];

const purposes = {
  publishable: 'For apps and web pages: sends locations, reads what a device may know, draws maps.',
  secret: 'For your servers: reads and changes everything in this environment. Keep it out of apps and repositories.',
} as const;

export default function Keys() {
  const { project, environment, isOwner } = useWorkspace();
  const [chosen, setChosen] = useState<Key>();
  const [issued, setIssued] = useState<string>();
  const loaded = useApi('GET /v1/projects/{id}', { path: { id: project._id } }, { enabled: isOwner });
  const rotate = useChange(
    ({ kind }: Key) =>
      call('POST /v1/projects/{id}/keys/rotate', { path: { id: project._id }, body: { environment, kind } }),
    'projects',
  );
  const name = environment === 'live' ? 'Live' : 'Test';
  return (
    <Page
      title="Keys"
      isNarrow
      intro={`Programs sign their requests with a key. These are the keys of ${name}; only their hashes are stored.`}
    >
      {!isOwner && <Notice>Only owners of the project see and replace keys.</Notice>}
      <LoadProblem query={loaded} />
      {isOwner && !loaded.error && (
        <div className="card">
          {loaded.data === undefined ? (
            <Loading rows={3} />
          ) : (
            <ul>
              {loaded.data.project.keys
                .filter((key) => key.environment === environment)
                .map((key) => (
                  <li key={key.kind} className="list-row">
                    <div className="grow">
                      <h2>{key.kind === 'secret' ? 'Secret key' : 'Publishable key'}</h2>
                      <p className="quiet">{purposes[key.kind]}</p>
                      <p className="row small">
                        <code>{key.hint}</code>
                        <span className="quiet">
                          created <RelativeTime time={key.createdAt} />
                        </span>
                      </p>
                    </div>
                    <Button icon="refresh" aria-label={`Replace the ${key.kind} key`} onClick={() => setChosen(key)}>
                      Replace
                    </Button>
                  </li>
                ))}
            </ul>
          )}
        </div>
      )}
      {chosen && (
        <Confirm
          title={`Replace the ${name} ${chosen.kind} key?`}
          action="Replace key"
          isBusy={rotate.isPending}
          problem={rotate.error ? messageOf(rotate.error) : undefined}
          onClose={() => setChosen(undefined)}
          onConfirm={() =>
            rotate.mutate(chosen, {
              onSuccess: ({ key }) => {
                rememberKey(project._id, environment, chosen.kind, key);
                setChosen(undefined);
                setIssued(key);
              },
            })
          }
        >
          <p>
            <code>{chosen.hint}</code> is refused from the moment of replacement. Everything that uses it must get the
            new key.
          </p>
        </Confirm>
      )}
      {issued !== undefined && (
        <Issued title="The new key" text={issued} copyLabel="Copy the key" onClose={() => setIssued(undefined)}>
          It is shown only this once. Copy it to where it is used.
        </Issued>
      )}
    </Page>
  );
}
