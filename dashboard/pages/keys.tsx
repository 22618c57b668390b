/** The keys of the environment: what they are for, and their replacement, which shows the new key once. */
import { useState } from 'react';
import type { Project } from '../../client/types';
import { type Answer, callIn, type Environment } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Button, Confirm, Issued, Loading, Notice, Page } from '../components/controls';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { messageOf } from '../components/toasts';
import { isOutdated, saveOver } from '../forms/edit';
import { rememberKey } from '../state/fresh-keys';
import { environmentNames, useWorkspace } from '../state/session';

type Key = Project['keys'][number];
type Loaded = Answer<'GET /v1/projects/{id}'>;

/** A key that is to be replaced, and the project as it was shown then: somebody else may replace the key meanwhile. */
interface Chosen {
  readonly key: Key;
  readonly opened: Loaded;
}

const keysIn = ({ project }: Loaded, environment: Environment): readonly Key[] =>
  project.keys.filter((key) => key.environment === environment);

const purposes = {
  publishable: 'For apps and web pages: sends locations, reads what a device may know, draws maps.',
  secret: 'For your servers: reads and changes everything in this environment. Keep it out of apps and repositories.',
} as const;

export default function Keys() {
  const { project, environment, isOwner } = useWorkspace();
  const [chosen, setChosen] = useState<Chosen>();
  const [issued, setIssued] = useState<string>();
  const loaded = useApi('GET /v1/projects/{id}', { path: { id: project._id } }, { enabled: isOwner });
  const rotate = useChange(({ key: { kind }, opened }: Chosen, scope) => {
    const path = { id: project._id };
    const hintIn = (state: Loaded) => keysIn(state, environment).find((key) => key.kind === kind)?.hint;
    return saveOver(opened, hintIn, {
      load: () => callIn(scope, 'GET /v1/projects/{id}', { path }),
      save: (ifMatch) =>
        callIn(scope, 'POST /v1/projects/{id}/keys/rotate', { path, body: { environment, kind }, ifMatch }),
    });
  }, 'projects');
  const name = environmentNames[environment];
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
              {keysIn(loaded.data, environment).map((key) => (
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
                  <Button
                    icon="refresh"
                    aria-label={`Replace the ${key.kind} key`}
                    onClick={() => setChosen({ key, opened: loaded.data })}
                  >
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
          title={`Replace the ${name} ${chosen.key.kind} key?`}
          action="Replace key"
          isBusy={rotate.isPending}
          problem={rotate.error ? messageOf(rotate.error) : undefined}
          onClose={() => setChosen(undefined)}
          onConfirm={() =>
            rotate.mutate(chosen, {
              onSuccess: ({ key }) => {
                rememberKey(project._id, environment, chosen.key.kind, key);
                setChosen(undefined);
                setIssued(key);
              },
              onError: (error) => isOutdated(error) && void loaded.refetch(),
            })
          }
        >
          <p>
            <code>{chosen.key.hint}</code> is refused from the moment of replacement. Everything that uses it must get
            the new key.
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
