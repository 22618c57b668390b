/** The frame of all views: navigation, project, the Test/Live switch, and the account. */
import { type ComponentProps, type ReactNode, useEffect, useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button, Segments, useModal } from '../components/controls';
import { Icon, Logo } from '../components/icons';
import { useToasts } from '../components/toasts';
import { checkReachable } from '../state/connection';
import { useLostFocus } from '../state/lost-focus';
import { useOpenHere } from '../state/open-here';
import { environmentNames, useWorkspace } from '../state/session';
import { navigation, preloadView } from '../views';
import { UnreachableBanner } from './unreachable';

/** Says that somebody has changed the role. The controls that go with it, and what they said, are gone by then. */
function useRoleNews(): void {
  const { project } = useWorkspace();
  const { say, complain } = useToasts();
  const known = useRef(project);
  useEffect(() => {
    const before = known.current;
    known.current = project;
    if (before._id !== project._id || before.role === project.role) return;
    if (project.role === 'owner') say(`You are an owner of ${project.name} now.`);
    else complain(`You are a viewer of ${project.name} now, and may only read. Ask an owner if that is wrong.`);
  }, [project, say, complain]);
}

const environments = (['test', 'live'] as const).map((value) => ({ value, label: environmentNames[value] }));

export function Shell({ children }: { readonly children: ReactNode }) {
  const { project, environment, chooseEnvironment } = useWorkspace();
  const [isMenuOpen, setMenuOpen] = useOpenHere();
  const main = useRef<HTMLElement>(null);
  useLostFocus(main);
  useRoleNews();
  const [path] = useLocation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: another view begins at its top
  useEffect(() => {
    main.current?.scrollTo(0, 0);
  }, [path]);
  return (
    <div className="shell">
      {/* biome-ignore lint/a11y/useValidAnchor: it leads to a place on this page */}
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          // Another address would be a step of its own for Back.
          event.preventDefault();
          main.current?.focus();
        }}
      >
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
            <MenuButton
              menu="ProjectMenu"
              className="button plain project-button"
              aria-label={`Project: ${project.name}`}
            >
              <span dir="auto">{project.name}</span> <Icon name="chevron" size={12} />
            </MenuButton>
            <span className="push" />
            <Segments
              legend="Environment"
              className="environment"
              value={environment}
              options={environments}
              onChange={chooseEnvironment}
            />
            <MenuButton menu="AccountMenu" className="button plain icon" aria-label="Account and appearance">
              <Icon name="user" />
            </MenuButton>
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

const loadMenus = () => import('./menus');
type Menus = Awaited<ReturnType<typeof loadMenus>>;

interface MenuButtonProps extends ComponentProps<'button'> {
  readonly menu: keyof Menus;
}

/** A button that opens a menu. Without the code of menus, the first script of the page is smaller by a fifth. */
function MenuButton({ menu, ...props }: MenuButtonProps) {
  const [menus, setMenus] = useState<Menus>();
  const toasts = useToasts();
  if (menus !== undefined) {
    const Menu = menus[menu];
    return <Menu button={<button type="button" {...props} />} />;
  }
  const prepare = () => void loadMenus().catch(() => {});
  const open = () =>
    void loadMenus().then(setMenus, () => {
      void checkReachable();
      toasts.complain('The menu could not be loaded. Try again, or load the page again.');
    });
  return (
    <button
      type="button"
      aria-haspopup="menu"
      aria-expanded={false}
      onPointerEnter={prepare}
      onFocus={prepare}
      onClick={open}
      {...props}
    />
  );
}
