/** One user: where it is now, its timeline on a map, and why each event happened or did not. */
import { useState } from 'react';
import { Link, useLocation, useParams } from 'wouter';
import type { User } from '../../client/types';
import { call } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Badge, Button, Confirm, Loading, Page } from '../components/controls';
import { Icon } from '../components/icons';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { messageOf, useToasts } from '../components/toasts';
import { accuracyText } from '../live/event-words';
import { listAddress } from '../state/list-address';
import { useWorkspace } from '../state/session';
import { Timeline } from '../timeline/timeline-view';
import '../styles/live.css';
import '../styles/timeline.css';

/** Leads to the list as it was left. */
const Back = () => (
  <Link href={listAddress('users')} className="back">
    <Icon name="back" size={14} /> Users
  </Link>
);

const absent = {
  title: 'This user does not exist',
  reason: 'It was erased, or belongs to the other environment.',
};

export default function UserView() {
  const { id } = useParams<{ id: string }>();
  const loaded = useApi('GET /v1/users/{id}', { path: { id } }, { refetchInterval: 10_000 });
  if (loaded.data === undefined) {
    return (
      <Page title="User" above={<Back />}>
        {loaded.error ? <LoadProblem query={loaded} absent={absent} /> : <Loading />}
      </Page>
    );
  }
  return <Loaded key={loaded.data.user._id} user={loaded.data.user} />;
}

function Loaded({ user }: { readonly user: User }) {
  const { isOwner } = useWorkspace();
  const [isErasing, setErasing] = useState(false);
  return (
    <Page
      title={user.userId ?? user.deviceId}
      above={<Back />}
      intro={
        <>
          <code>{user.deviceId}</code> · last location <RelativeTime time={user.updatedAt} />
        </>
      }
      actions={
        isOwner && (
          <Button look="danger" icon="trash" onClick={() => setErasing(true)}>
            Erase user
          </Button>
        )
      }
    >
      <Present user={user} />
      <Timeline user={user} />
      {isErasing && <Erase user={user} onClose={() => setErasing(false)} />}
    </Page>
  );
}

function Erase({ user, onClose }: { readonly user: User; onClose(): void }) {
  const [, navigate] = useLocation();
  const toasts = useToasts();
  const erase = useChange(async () => {
    await call('DELETE /v1/users/{id}', { path: { id: user._id } });
    toasts.say('The erasure has been accepted, and runs in the background.');
  }, 'users');
  return (
    <Confirm
      title={`Erase ${user.userId ?? user.deviceId}?`}
      action="Erase"
      isBusy={erase.isPending}
      problem={erase.error ? messageOf(erase.error) : undefined}
      onClose={onClose}
      onConfirm={() => erase.mutate(undefined, { onSuccess: () => navigate(listAddress('users')) })}
    >
      <p>
        All locations and events of this user that were received until now are erased, with its state. This cannot be
        undone. Locations that arrive later make a new user.
      </p>
    </Confirm>
  );
}

/** The current state of the user. */
function Present({ user }: { readonly user: User }) {
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Device', [user.deviceMake, user.deviceModel, user.deviceOS].filter(Boolean).join(' ') || user.deviceType],
    ['Description', user.description],
    ...Object.entries(user.metadata ?? {}).map(([name, value]) => [name, String(value)] as const),
  ];
  return (
    <section className="card present" aria-label="Now">
      <dl className="facts">
        <dt>Inside of</dt>
        <dd className="row">
          {user.geofences.length === 0 && <span className="quiet">No geofence</span>}
          {user.geofences.slice(0, 20).map(({ _id, description }) => (
            <Link key={_id} href={`/geofences/${_id}`} className="badge accent">
              {description}
            </Link>
          ))}
          {user.geofences.length > 20 && <span className="quiet">and {user.geofences.length - 20} more</span>}
        </dd>
        <dt>Beacons in range</dt>
        <dd className="row">
          {user.beacons.length === 0 && <span className="quiet">None</span>}
          {user.beacons.map(({ _id, description }) => (
            <Link key={_id} href={`/beacons/${_id}`} className="badge info">
              {description}
            </Link>
          ))}
        </dd>
        <dt>State</dt>
        <dd className="row">
          <Badge tone={user.stopped ? 'neutral' : 'info'}>{user.stopped ? 'Stopped' : 'Moving'}</Badge>
          <Badge>{user.foreground ? 'App in the foreground' : 'App in the background'}</Badge>
          <span className="quiet">{accuracyText(user.locationAccuracy)}</span>
        </dd>
        {facts.map(
          ([name, value]) =>
            value && (
              <div key={name} className="facts-pair">
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ),
        )}
      </dl>
    </section>
  );
}
