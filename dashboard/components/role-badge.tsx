/** The role of a member, in words. */
import type { Member } from '../../client/types';
import { Badge } from './controls';

type Role = Member['role'];

export const roleNames: Readonly<Record<Role, string>> = { owner: 'Owner', viewer: 'Viewer' };

export const RoleBadge = ({ role }: { readonly role: Role }) => (
  <Badge tone={role === 'owner' ? 'accent' : 'neutral'}>{roleNames[role]}</Badge>
);
