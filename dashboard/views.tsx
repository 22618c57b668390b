/** The views, their paths, and the navigation. Each is loaded when it is first shown. */
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { useApi } from './client/hooks';
import { Loading, Page } from './components/controls';
import { FailedView } from './components/failed-view';
import type { IconName } from './components/icons';
import { useScope } from './state/session';

interface Group {
  readonly title: string;
  readonly links: readonly { readonly href: string; readonly label: string; readonly icon: IconName }[];
}

/** The links of the navigation, in groups. */
export const navigation: readonly Group[] = [
  {
    title: 'Monitor',
    links: [
      { href: '/start', label: 'Getting started', icon: 'start' },
      { href: '/live', label: 'Live', icon: 'pulse' },
      { href: '/users', label: 'Users', icon: 'user' },
      { href: '/analytics', label: 'Analytics', icon: 'chart' },
    ],
  },
  {
    title: 'Places',
    links: [
      { href: '/map', label: 'Map', icon: 'map' },
      { href: '/geofences', label: 'Geofences', icon: 'fence' },
      { href: '/beacons', label: 'Beacons', icon: 'beacon' },
      { href: '/imports', label: 'Import', icon: 'upload' },
    ],
  },
  {
    title: 'Develop',
    links: [
      { href: '/webhooks', label: 'Webhooks', icon: 'webhook' },
      { href: '/keys', label: 'Keys', icon: 'key' },
      { href: '/static-maps', label: 'Static maps', icon: 'image' },
      { href: '/what-if', label: 'What-if', icon: 'refresh' },
    ],
  },
  {
    title: 'Project',
    links: [
      { href: '/settings', label: 'Settings', icon: 'settings' },
      { href: '/sync', label: 'Sync', icon: 'sync' },
      { href: '/members', label: 'Members', icon: 'members' },
    ],
  },
];

type LoadView = () => Promise<{ readonly default: ComponentType }>;

const loaders: readonly (readonly [path: string, load: LoadView])[] = [
  ['/start', () => import('./pages/start')],
  ['/live', () => import('./pages/live')],
  ['/users', () => import('./pages/users')],
  ['/users/:id', () => import('./pages/user')],
  ['/analytics', () => import('./pages/analytics')],
  ['/map', () => import('./pages/map')],
  ['/geofences', () => import('./pages/geofences')],
  ['/geofences/:id', () => import('./pages/geofence')],
  ['/beacons', () => import('./pages/beacons')],
  ['/beacons/:id', () => import('./pages/beacon')],
  ['/imports', () => import('./pages/import')],
  ['/imports/:id', () => import('./pages/import-record')],
  ['/webhooks', () => import('./pages/webhooks')],
  ['/webhooks/:id', () => import('./pages/webhook')],
  ['/what-if', () => import('./pages/what-if')],
  ['/static-maps', () => import('./pages/static-map')],
  ['/settings', () => import('./pages/settings')],
  ['/sync', () => import('./pages/sync')],
  ['/members', () => import('./pages/members')],
  ['/account', () => import('./pages/account')],
  ['/keys', () => import('./pages/keys')],
];
/** Those that are there already. */
const loaded = new Map<LoadView, ComponentType>();

async function loadView(load: LoadView) {
  const module = await load();
  loaded.set(load, module.default);
  return module;
}

interface ViewProps {
  readonly load: LoadView;
  readonly lazily: ComponentType;
}

/** React shows a sign of loading for 300 ms at least, so a view that is there is shown without asking. */
function View({ load, lazily }: ViewProps) {
  const [Shown] = useState(() => loaded.get(load) ?? lazily);
  return <Shown />;
}

const views = loaders.map(([path, load]) => ({ path, load, lazily: lazy(() => loadView(load)) }));

/** Loads the view of a path before it is shown. A view that cannot be loaded says so when it is shown. */
export async function preloadView(path: string): Promise<void> {
  const parts = path.split('/');
  const isFitting = (pattern: string): boolean => {
    const names = pattern.split('/');
    return names.length === parts.length && names.every((name, at) => name === parts[at] || name.startsWith(':'));
  };
  const [, load] = loaders.find(([pattern]) => isFitting(pattern)) ?? [];
  if (load) await loadView(load).catch(() => {});
}

/** Another project or environment has other views: what is typed or chosen in one must not be saved in the other. */
export function Views() {
  const [path] = useLocation();
  const { project, environment } = useScope();
  return (
    <FailedView key={`${project} ${environment}`} path={path}>
      <Suspense fallback={<LoadingView />}>
        <Switch>
          <Route path="/" component={Home} />
          {views.map(({ path, ...view }) => (
            <Route key={path} path={path}>
              <View key={path} {...view} />
            </Route>
          ))}
          <Route>
            <NoSuchPage />
          </Route>
        </Switch>
      </Suspense>
    </FailedView>
  );
}

const NoSuchPage = () => (
  <Page title="There is no such page" intro="The address may be mistyped, or the page has another one by now.">
    <div>
      <Link href="/" className="button">
        To the start
      </Link>
    </div>
  </Page>
);

/** Is where the view will be. */
const LoadingView = () => (
  <div className="page">
    <Loading />
  </div>
);

/** An empty project begins with the first steps, any other with its geofences. */
function Home() {
  const { data, isError } = useApi('GET /v1/geofences', { query: { limit: 1 } });
  if (data === undefined && !isError) return <LoadingView />;
  return <Redirect to={data?.geofences.length ? '/geofences' : '/start'} replace />;
}
