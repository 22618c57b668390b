/** The views, their paths, and the navigation. Each is loaded when it is first shown. */
import { type ComponentType, type LazyExoticComponent, lazy, Suspense } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
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
    links: [{ href: '/start', label: 'Getting started', icon: 'start' }],
  },
  {
    title: 'Develop',
    links: [{ href: '/keys', label: 'Keys', icon: 'key' }],
  },
];

const views: readonly (readonly [path: string, view: LazyExoticComponent<ComponentType>])[] = [
  ['/start', lazy(() => import('./pages/start'))],
  ['/keys', lazy(() => import('./pages/keys'))],
];

export function Views() {
  const [path] = useLocation();
  return (
    <FailedView path={path}>
      <Suspense fallback={<Loading />}>
        <Switch>
          <Route path="/" component={Home} />
          <Route path="/account" component={Home} />
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

const Home = () => <Redirect to="/start" replace />;
