/** The views, their paths, and the navigation. Each is loaded when it is first shown. */
import { type ComponentType, type LazyExoticComponent, lazy, Suspense } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { useApi } from './client/hooks';
import { Empty, Loading } from './components/controls';
import { FailedView } from './components/failed-view';
import type { IconName } from './components/icons';

interface Group {
  readonly title: string;
  readonly links: readonly { readonly href: string; readonly label: string; readonly icon: IconName }[];
}

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

const views: readonly (readonly [path: string, view: LazyExoticComponent<ComponentType>])[] = [
  ['/start', lazy(() => import('./pages/start'))],
  ['/live', lazy(() => import('./pages/live'))],
  ['/users', lazy(() => import('./pages/users'))],
  ['/users/:id', lazy(() => import('./pages/user'))],
  ['/analytics', lazy(() => import('./pages/analytics'))],
  ['/map', lazy(() => import('./pages/map'))],
  ['/geofences', lazy(() => import('./pages/geofences'))],
  ['/geofences/:id', lazy(() => import('./pages/geofence'))],
  ['/beacons', lazy(() => import('./pages/beacons'))],
  ['/beacons/:id', lazy(() => import('./pages/beacon'))],
  ['/imports', lazy(() => import('./pages/import'))],
  ['/imports/:id', lazy(() => import('./pages/import-record'))],
  ['/webhooks', lazy(() => import('./pages/webhooks'))],
  ['/webhooks/:id', lazy(() => import('./pages/webhook'))],
  ['/what-if', lazy(() => import('./pages/what-if'))],
  ['/static-maps', lazy(() => import('./pages/static-map'))],
  ['/settings', lazy(() => import('./pages/settings'))],
  ['/sync', lazy(() => import('./pages/sync'))],
  ['/members', lazy(() => import('./pages/members'))],
  ['/account', lazy(() => import('./pages/account'))],
  ['/keys', lazy(() => import('./pages/keys'))],
];

export function Views() {
  const [path] = useLocation();
  return (
    <FailedView path={path}>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/" component={Home} />
          {views.map(([path, view]) => (
            <Route key={path} path={path} component={view} />
          ))}
          <Route>
            <Empty title="There is no such page" actions={<Link href="/">To the start</Link>} />
          </Route>
        </Switch>
      </Suspense>
    </FailedView>
  );
}

/** An empty project begins with the first steps, any other with its geofences. */
function Home() {
  const { data, isError } = useApi('GET /v1/geofences', { query: { limit: 1 } });
  if (data === undefined && !isError) return <Loading />;
  return <Redirect to={data?.geofences.length ? '/geofences' : '/start'} replace />;
}
