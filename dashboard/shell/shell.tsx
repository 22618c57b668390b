/** The frame of all views: navigation, project, the Test/Live switch, and the account. */
import * as Menu from '@radix-ui/react-dropdown-menu';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { call, type Environment } from '../client/call';
import { Button, Segments, useModal } from '../components/controls';
import { Icon, type IconName, Logo } from '../components/icons';
import { useToasts } from '../components/toasts';
import { replaceSession, useWorkspace } from '../state/session';
import { chooseTheme, type ThemeChoice, useThemeChoice } from '../state/theme';
import { navigation, preloadView } from '../views';
import { UnreachableBanner } from './unreachable';

const environments = [
  { value: 'test', label: 'Test' },
  { value: 'live', label: 'Live' },
] as const satisfies readonly { value: Environment; label: string }[];

export function Shell({ children }: { readonly children: ReactNode }) {
  const { environment, chooseEnvironment } = useWorkspace();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const main = useRef<HTMLElement>(null);
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view begins at its top
  useEffect(() => {
    setMenuOpen(false);
    main.current?.scrollTo(0, 0);
  }, [path]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to content
      </a>
      <UnreachableBanner />
      {environment === 'live' && <div className="live-line" />}
      <div className="app">
        <header>
          <Brand />
          <div className="header">
            <Button
              className="menu-button"
              look="plain"
              icon="menu"
              aria-label="Menu"
              aria-expanded={isMenuOpen}
              onClick={() => setMenuOpen(true)}
            />
            <ProjectMenu />
            <span className="push" />
            <Segments
              legend="Environment"
              className="environment"
              value={environment}
              options={environments}
              onChange={chooseEnvironment}
            />
            <AccountMenu />
          </div>
        </header>
        <Navigation />
        <main className="main" id="main" ref={main} tabIndex={-1}>
          {children}
        </main>
      </div>
      {isMenuOpen && <Drawer onClose={() => setMenuOpen(false)} />}
    </div>
  );
}

const Brand = () => (
  <Link href="/" className="brand">
    <Logo /> Fenceline
  </Link>
);

function Navigation() {
  const [path] = useLocation();
  const isCurrent = (href: string) => path === href || path.startsWith(`${href}/`);
  return (
    <nav className="nav" aria-label="Main">
      {navigation.map(({ title, links }) => (
        <div key={title}>
          <h2>{title}</h2>
          <ul>
            {links.map(({ href, label, icon }) => (
              <li key={href}>
                <Link
                  href={href}
                  className="nav-link"
                  aria-current={isCurrent(href) ? 'page' : undefined}
                  onPointerEnter={() => void preloadView(href)}
                  onFocus={() => void preloadView(href)}
                >
                  <Icon name={icon} /> {label}
                </Link>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <a className="nav-link foot" href="/docs" target="_blank" rel="noreferrer">
        <Icon name="book" /> API reference
      </a>
    </nav>
  );
}

function Drawer({ onClose }: { readonly onClose: () => void }) {
  const element = useModal();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes the dialog, and there is a button
    <dialog
      ref={element}
      className="drawer"
      aria-label="Menu"
      onCancel={onClose}
      onClick={(event) => event.target === element.current && onClose()}
    >
      <div className="drawer-head">
        <Brand />
        <Button look="plain" icon="close" aria-label="Close the menu" onClick={onClose} />
      </div>
      <Navigation />
    </dialog>
  );
}

function ProjectMenu() {
  const { session, project, chooseProject } = useWorkspace();
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger asChild>
        <button type="button" className="button plain project-button" aria-label={`Project: ${project.name}`}>
          <span>{project.name}</span> <Icon name="chevron" size={12} />
        </button>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="start" sideOffset={4}>
          <Menu.Label className="menu-label">Project</Menu.Label>
          <Menu.RadioGroup value={project._id} onValueChange={chooseProject}>
            {session.projects.map(({ _id, name, role }) => (
              <Menu.RadioItem key={_id} value={_id} className="menu-item">
                <span className="check-mark">{_id === project._id && <Icon name="check" size={14} />}</span>
                <span className="grow truncate">{name}</span>
                <span className="quiet small">{role}</span>
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

const themes: readonly { value: ThemeChoice; label: string; icon: IconName }[] = [
  { value: 'system', label: 'As the system', icon: 'screen' },
  { value: 'light', label: 'Light', icon: 'sun' },
  { value: 'dark', label: 'Dark', icon: 'moon' },
];

function AccountMenu() {
  const { session } = useWorkspace();
  const client = useQueryClient();
  const toasts = useToasts();
  const theme = useThemeChoice();
  const [, navigate] = useLocation();

  async function signOut() {
    try {
      await call('POST /v1/signout', { body: {} });
      replaceSession(client, null);
      navigate('/');
    } catch (error) {
      toasts.complain(error);
    }
  }
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger asChild>
        <button type="button" className="button plain icon" aria-label="Account and appearance">
          <Icon name="user" />
        </button>
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={4}>
          <Menu.Label className="menu-label">{session.account?.email ?? 'Signed in by a one-time link'}</Menu.Label>
          <Menu.Separator className="menu-line" />
          <Menu.Label className="menu-label">Appearance</Menu.Label>
          <Menu.RadioGroup value={theme} onValueChange={(value) => chooseTheme(value as ThemeChoice)}>
            {themes.map(({ value, label, icon }) => (
              <Menu.RadioItem
                key={value}
                value={value}
                className="menu-item"
                onSelect={(event) => event.preventDefault()}
              >
                <Icon name={icon} />
                <span className="grow">{label}</span>
                {theme === value && <Icon name="check" size={14} />}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <Menu.Separator className="menu-line" />
          <Menu.Item className="menu-item" onSelect={() => navigate('/account')}>
            <Icon name="user" /> Account and projects
          </Menu.Item>
          <Menu.Item className="menu-item" onSelect={() => void signOut()}>
            <Icon name="out" /> Sign out
          </Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
