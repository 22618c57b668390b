/** Getting started: a geofence, a location, and the event that follows. */
import { type ReactNode, useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Event, Geofence } from '../../client/types';
import { type Answer, call } from '../client/call';
import { followEvents } from '../client/events';
import { useApi, useChange } from '../client/hooks';
import { useAction } from '../components/action';
import { Badge, Block, Button, Copyable, Loading, Notice, Page, TextField } from '../components/controls';
import { counted } from '../components/counts';
import { Form } from '../components/form';
import { Icon } from '../components/icons';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { messageOf, useToasts } from '../components/toasts';
import { degreesOf, isElsewhere, problemAt, problemOfDegrees, quantityOf } from '../forms/draft';
import { freshKey } from '../state/fresh-keys';
import { environmentNames, useScope, useWorkspace } from '../state/session';

export default function Start() {
  const { environment } = useWorkspace();
  const geofences = useApi('GET /v1/geofences', { query: { limit: 1 } });
  const users = useApi('GET /v1/users', { query: { limit: 1 } }, { refetchInterval: 3_000 });
  const event = useFirstEvent();
  const geofence = geofences.data?.geofences[0];
  const hasLocation = event !== undefined || (users.data?.users.length ?? 0) > 0;
  const page = {
    title: 'Getting started',
    isNarrow: true,
    intro: `Three steps from an empty project to its first event, in ${environmentNames[environment]}.`,
  };
  // The form of an empty project would move all else when it goes.
  if (geofences.data === undefined) {
    return <Page {...page}>{geofences.error ? <LoadProblem query={geofences} /> : <Loading rows={3} />}</Page>;
  }
  return (
    <Page {...page}>
      <ol className="steps">
        <Step number={1} title="Create a geofence" isDone={geofence !== undefined} isCurrent={geofence === undefined}>
          {geofence ? <CreatedGeofence geofence={geofence} /> : <NewGeofence />}
        </Step>
        <Step
          number={2}
          title="Send a location"
          isDone={hasLocation}
          isCurrent={geofence !== undefined && !hasLocation}
        >
          <SendLocation geofence={geofence} />
        </Step>
        <Step number={3} title="Watch the event arrive" isDone={event !== undefined} isCurrent={hasLocation && !event}>
          <ArrivedEvent event={event} isWaiting={geofence !== undefined} />
        </Step>
      </ol>
      <DemoCity />
    </Page>
  );
}

/** A simulated fleet, for those who want to see something move before they send locations of their own. */
function DemoCity() {
  const { isOwner, environment } = useWorkspace();
  const toasts = useToasts();
  const loaded = useApi('GET /v1/demo', {}, { refetchInterval: 2_000, enabled: environment === 'test' });
  const run = useAction(() => call('POST /v1/demo', {}), 'demo', 'geofences');
  const stop = useAction(() => call('POST /v1/demo/stop', {}), 'demo');
  const remove = useAction(
    async () => {
      await call('DELETE /v1/demo', {});
      toasts.say("The demo's geofences are removed.");
    },
    'demo',
    'geofences',
  );
  const demo = loaded.data?.demo;
  if (environment === 'live' || demo === undefined || !demo.available) return null;
  const hasGeofences = demo.geofences > 0;
  return (
    <section className="card" aria-label="Demo city">
      <div className="card-head">
        <h2>{demo.running ? 'The demo city is at work' : 'Or watch a city at work'}</h2>
        {demo.running && <Badge tone="success">Running</Badge>}
      </div>
      <div className="card-body stack">
        {demo.running ? (
          <DemoProgress {...demo} />
        ) : (
          <p className="quiet">
            {demo.devices} simulated vans, commuters and shoppers move through San Francisco for ten minutes. Their
            locations make real events in Test, which your webhooks for Test get too. The geofences have the tag{' '}
            <code>demo</code>.
          </p>
        )}
        <div className="row">
          {demo.running ? (
            <>
              <Link href="/live" className="button primary">
                Watch it live
              </Link>
              <Link href="/map" className="button">
                See the map
              </Link>
            </>
          ) : (
            isOwner && (
              <Button look="primary" icon="start" isBusy={run.isPending} onClick={() => run.mutate(undefined)}>
                {hasGeofences ? 'Run the demo city again' : 'Run the demo city'}
              </Button>
            )
          )}
          {isOwner && demo.running && (
            <Button isBusy={stop.isPending} onClick={() => stop.mutate(undefined)}>
              Stop
            </Button>
          )}
          {isOwner && hasGeofences && !run.isPending && (
            <Button look="plain" icon="trash" isBusy={remove.isPending} onClick={() => remove.mutate(undefined)}>
              Remove its geofences
            </Button>
          )}
          {!isOwner && !demo.running && <span className="quiet">Only owners run the demo.</span>}
        </div>
      </div>
    </section>
  );
}

function DemoProgress({ startedAt, endsAt, locations, devices, geofences }: Answer<'GET /v1/demo'>['demo']) {
  const [from, to] = [Date.parse(startedAt ?? ''), Date.parse(endsAt ?? '')];
  const share = Math.min(1, Math.max(0, (Date.now() - from) / (to - from)));
  const minutesLeft = Math.max(1, Math.ceil((to - Date.now()) / 60_000));
  return (
    <>
      <progress className="progress" value={share} max={1} aria-label="Progress of the demo" />
      <p className="quiet">
        {counted(devices, 'device')} among {counted(geofences, 'geofence')}; {counted(locations, 'location')} sent;{' '}
        {minutesLeft === 1 ? 'less than a minute' : counted(minutesLeft, 'minute')} left
      </p>
    </>
  );
}

interface StepProps {
  readonly number: number;
  readonly title: string;
  readonly isDone: boolean;
  readonly isCurrent: boolean;
  readonly children: ReactNode;
}

function Step({ number, title, isDone, isCurrent, children }: StepProps) {
  return (
    <li
      className={`card step ${isDone ? 'done' : ''} ${isCurrent ? 'current' : ''}`}
      aria-current={isCurrent ? 'step' : undefined}
    >
      <span className="step-mark">{isDone ? <Icon name="check" /> : number}</span>
      <div className="stack-tight">
        <h2>
          {title}
          {isDone && <span className="visually-hidden"> (done)</span>}
        </h2>
        {children}
      </div>
    </li>
  );
}

const CreatedGeofence = ({ geofence }: { readonly geofence: Geofence }) => (
  <p className="quiet">
    <Link href={`/geofences/${geofence._id}`}>{geofence.description}</Link> is monitored.
  </p>
);

const example = { description: 'Duomo', latitude: '43.7731', longitude: '11.2560', radius: '100' };

function NewGeofence() {
  const { isOwner } = useWorkspace();
  const [values, setValues] = useState(example);
  const create = useChange(
    () =>
      call('POST /v1/geofences', {
        body: {
          type: 'circle',
          tag: 'store',
          externalId: 'first',
          description: values.description,
          coordinates: [degreesOf(values.longitude) ?? Number.NaN, degreesOf(values.latitude) ?? Number.NaN],
          radius: quantityOf(values.radius) ?? Number.NaN,
        },
      }),
    'geofences',
  );
  const set = (name: keyof typeof example) => (value: string) => setValues((all) => ({ ...all, [name]: value }));
  const fields = ['description', 'coordinates', 'radius'];
  return (
    <Form className="stack-tight" error={create.error} onSubmit={() => create.mutate(undefined)}>
      <p className="quiet">A circle around a place that you know. You can draw others later.</p>
      <div className="form-grid">
        <TextField
          label="Description"
          value={values.description}
          problem={problemAt(create.error, 'description')}
          onChange={set('description')}
        />
        <TextField
          label="Radius"
          unit="m"
          inputMode="decimal"
          value={values.radius}
          problem={problemAt(create.error, 'radius')}
          onChange={set('radius')}
        />
        <TextField
          label="Latitude"
          inputMode="decimal"
          value={values.latitude}
          problem={problemOfDegrees(create.error, 'latitude', values)}
          onChange={set('latitude')}
        />
        <TextField
          label="Longitude"
          inputMode="decimal"
          value={values.longitude}
          problem={problemOfDegrees(create.error, 'longitude', values)}
          onChange={set('longitude')}
        />
      </div>
      {isElsewhere(create.error, fields) && (
        <Notice tone="danger" role="alert">
          {messageOf(create.error)}
        </Notice>
      )}
      <div className="row">
        <Button type="submit" look="primary" isBusy={create.isPending} disabled={!isOwner}>
          Create geofence
        </Button>
        <HereButton
          onFound={({ latitude, longitude }) =>
            setValues((all) => ({ ...all, latitude: latitude.toFixed(5), longitude: longitude.toFixed(5) }))
          }
        />
        {!isOwner && <span className="quiet">Only owners create geofences.</span>}
      </div>
    </Form>
  );
}

const foundWithinMs = 20_000;
const geolocationWords: Readonly<Record<number, string>> = {
  1: 'This browser may not tell the page where it is. Allow it in the settings of the browser, or type the position.',
  2: 'This browser does not know where it is. Type the position.',
  3: 'This browser did not find out in time where it is. Try again, or type the position.',
};

function HereButton({ onFound }: { onFound(coordinates: GeolocationCoordinates): void }) {
  const [isBusy, setBusy] = useState(false);
  const toasts = useToasts();
  if (!('geolocation' in navigator) || !isSecureContext) return null;
  return (
    <Button
      isBusy={isBusy}
      onClick={() => {
        setBusy(true);
        navigator.geolocation.getCurrentPosition(
          ({ coords }) => {
            setBusy(false);
            onFound(coords);
          },
          ({ code, message }) => {
            setBusy(false);
            toasts.complain(geolocationWords[code] ?? message);
          },
          { timeout: foundWithinMs },
        );
      }}
    >
      Use where I am
    </Button>
  );
}

function SendLocation({ geofence }: { readonly geofence: Geofence | undefined }) {
  const { project, environment, isOwner } = useWorkspace();
  // Six decimals are a tenth of a metre.
  const [longitude, latitude] = (geofence?.geometryCenter.coordinates ?? [11.256, 43.7731]).map((degrees) =>
    Number(degrees.toFixed(6)),
  ) as [number, number];
  const key = freshKey(project._id, environment, 'publishable');
  const track = useChange(
    () =>
      call('POST /v1/track', {
        body: { deviceId: 'phone-1', latitude, longitude, accuracy: 10, deviceType: 'Web' },
      }),
    'users',
  );
  const line = [
    `curl ${location.origin}/v1/track`,
    `-H "Authorization: ${key ?? `YOUR_${environment.toUpperCase()}_PUBLISHABLE_KEY`}"`,
    // A line of each fits a narrow screen.
    '-d deviceId=phone-1',
    `-d latitude=${latitude}`,
    `-d longitude=${longitude}`,
    '-d accuracy=10',
  ].join(' \\\n  ');
  return (
    <>
      <p className="quiet">Run this in a terminal. It says that a device is at the centre of the geofence.</p>
      <Copyable text={line} label="Copy the command" />
      {key === undefined && (
        <p className="quiet small">
          A key is shown only when it is issued: <Link href="/keys">replace it</Link> if nobody has kept it.
        </p>
      )}
      {track.error && (
        <Notice tone="danger" role="alert">
          {messageOf(track.error)}
        </Notice>
      )}
      <div className="row">
        <Button
          isBusy={track.isPending}
          disabled={geofence === undefined || !isOwner}
          onClick={() => track.mutate(undefined)}
        >
          Send it from this page
        </Button>
      </div>
    </>
  );
}

const checkEveryMs = 5_000;

/** Returns the newest event of the environment: the last one stored, or the first that arrives now. */
function useFirstEvent(): Event | undefined {
  const scope = useScope();
  const [arrived, setArrived] = useState<Event>();
  // An event may come after the list and before the stream is open.
  const refetchInterval = arrived ? false : checkEveryMs;
  const stored = useApi('GET /v1/events', { query: { limit: 1 } }, { refetchInterval });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another environment has another stream
  useEffect(() => {
    setArrived(undefined);
    return followEvents({ onEvent: setArrived });
  }, [scope]);
  return arrived ?? stored.data?.events[0];
}

function ArrivedEvent({ event, isWaiting }: { readonly event: Event | undefined; readonly isWaiting: boolean }) {
  return (
    <>
      <div role="status">
        {event ? (
          <p className="truncate">
            <strong>{event.type}</strong> <bdi>{event.geofence?.description}</bdi>{' '}
            <span className="quiet">
              <RelativeTime time={event.createdAt} />
            </span>
          </p>
        ) : (
          <p className="quiet row">
            {isWaiting && <span className="spinner" />}
            {isWaiting
              ? 'Waiting for the first event. It appears here when it happens.'
              : 'It appears here when it happens.'}
          </p>
        )}
      </div>
      {event && <Block label="The event">{JSON.stringify(event, null, 2)}</Block>}
    </>
  );
}
