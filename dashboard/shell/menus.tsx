/** The menus of the frame, which are loaded when one is opened for the first time. */
import * as Menu from '@radix-ui/react-dropdown-menu';
import { useQueryClient } from '@tanstack/react-query';
import type { ReactElement } from 'react';
import { useLocation } from 'wouter';
import { Icon, type IconName } from '../components/icons';
import { roleNames } from '../components/role-badge';
import { useToasts } from '../components/toasts';
import { useOpenHere } from '../state/open-here';
import { signOut, useWorkspace } from '../state/session';
import { chooseTheme, type ThemeChoice } from '../state/theme';
import { leave } from '../state/unsaved';
import { useThemeChoice } from '../state/use-theme';

interface Props {
  readonly button: ReactElement;
}

/** Lists the projects of the session, and marks the chosen one. */
export function ProjectMenu({ button }: Props) {
  const { session, project, chooseProject } = useWorkspace();
  const [isOpen, setOpen] = useOpenHere(true);
  return (
    <Menu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <Menu.Trigger asChild>{button}</Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="start" sideOffset={4}>
          <Menu.Label className="menu-label">Project</Menu.Label>
          <Menu.RadioGroup value={project._id} onValueChange={chooseProject}>
            {session.projects.map(({ _id, name, role }) => (
              <Menu.RadioItem key={_id} value={_id} className="menu-item">
                <span className="check-mark">{_id === project._id && <Icon name="check" size={14} />}</span>
                <span className="grow truncate left" dir="auto">
                  {name}
                </span>
                <span className="quiet small">{roleNames[role]}</span>
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

export function AccountMenu({ button }: Props) {
  const { session } = useWorkspace();
  const client = useQueryClient();
  const toasts = useToasts();
  const theme = useThemeChoice();
  const [isOpen, setOpen] = useOpenHere(true);
  const [, navigate] = useLocation();

  return (
    <Menu.Root modal={false} open={isOpen} onOpenChange={setOpen}>
      <Menu.Trigger asChild>{button}</Menu.Trigger>
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
          <Menu.Item
            className="menu-item"
            onSelect={() => leave(() => void signOut(client, false).catch(toasts.complain))}
          >
            <Icon name="out" /> Sign out
          </Menu.Item>
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}
