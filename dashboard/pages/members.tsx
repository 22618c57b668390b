/** Who may use the project: members and open invitations. */
import { type ReactNode, useCallback, useState } from 'react';
import type { Member } from '../../client/types';
import { type Answer, call, untilGone } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { useAction } from '../components/action';
import { Button, Confirm, Empty, Loading, Notice, Page, SelectField, TextField } from '../components/controls';
import { counted, grouped } from '../components/counts';
import { Form } from '../components/form';
import { SearchField } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { RoleBadge, roleNames } from '../components/role-badge';
import type { TableColumn } from '../components/table';
import { messageOf, useToasts } from '../components/toasts';
import { VirtualTable } from '../components/virtual-table';
import { problemAt } from '../forms/draft';
import { areMailsSent } from '../state/server-facts';
import { useWorkspace } from '../state/session';
import { useUnsaved } from '../state/unsaved';
import { useAddressTexts } from '../state/view-address';

type Role = Member['role'];

const roles = (['owner', 'viewer'] as const).map((value) => ({ value, label: roleNames[value] }));

/** A project has no more, and a page of the API holds them. */
const maxMembers = 1_000;
/** More are searched. */
const fewMembers = 10;

const fits = (search: string) => {
  const part = search.trim().toLowerCase();
  return ({ email }: { readonly email: string }): boolean => email.toLowerCase().includes(part);
};

export default function Members() {
  const { isOwner, project } = useWorkspace();
  const members = useApi('GET /v1/members', { query: { limit: maxMembers } });
  const invitations = useApi('GET /v1/invitations', {}, { enabled: isOwner });
  const [{ search }, put] = useAddressTexts(['search']);
  const setSearch = useCallback((text: string) => put({ search: text.trim() }), [put]);
  const all = members.data?.members ?? [];
  const open = invitations.data?.invitations ?? [];
  const shownMembers = all.filter(fits(search));
  const shownInvitations = open.filter(fits(search));
  const hasSearch = search !== '' || all.length > fewMembers || open.length > fewMembers;
  return (
    <Page
      title="Members"
      isNarrow
      intro={
        <>
          Owners of <bdi>{project.name}</bdi> may do everything. Viewers may read.
        </>
      }
    >
      {isOwner && <Invite />}
      <LoadProblem query={members} />
      <section className="card list people" aria-label="Members" hidden={members.isError && !members.data}>
        <div className="card-head">
          <h2>Members</h2>
        </div>
        {hasSearch && (
          <div className="toolbar">
            <SearchField label="Search by email" value={search} onChange={setSearch} />
          </div>
        )}
        {members.isPending && <Loading rows={2} />}
        {members.data && all.length === 0 && (
          <Empty title="Nobody has an account yet">
            <p>You are signed in by a one-time link. Invite yourself to get an account.</p>
          </Empty>
        )}
        {all.length > 0 && shownMembers.length === 0 && (
          <Empty title="Nothing matches" actions={<Button onClick={() => setSearch('')}>Clear the search</Button>}>
            <p>The search looks for a part of the email address.</p>
          </Empty>
        )}
        {shownMembers.length > 0 && <MemberTable members={shownMembers} />}
        {hasSearch && (
          <p className="table-foot" role="status">
            {search !== '' && `${grouped(shownMembers.length)} of `}
            {counted(all.length, 'member')}
          </p>
        )}
      </section>
      {isOwner && <LoadProblem query={invitations} />}
      {shownInvitations.length > 0 && (
        <section className="card list people" aria-label="Invitations">
          <div className="card-head">
            <h2>Open invitations</h2>
          </div>
          <InvitationTable invitations={shownInvitations} />
        </section>
      )}
    </Page>
  );
}

/** The name and a quiet line of somebody. */
const person = (email: ReactNode, line: ReactNode): ReactNode => (
  <>
    <p className="label">{email}</p>
    <p className="quiet small">{line}</p>
  </>
);

function MemberTable({ members }: { readonly members: readonly Member[] }) {
  const { isOwner, session } = useWorkspace();
  const [removed, setRemoved] = useState<Member>();
  const change = useAction(
    ({ id, role }: { id: string; role: Role }) => call('PUT /v1/members/{id}', { path: { id }, body: { role } }),
    'members',
    'invitations',
  );
  const remove = useChange(
    (id: string) => untilGone(call('DELETE /v1/members/{id}', { path: { id } })),
    'members',
    'invitations',
  );
  /** The chosen role is shown at once. The field stays enabled, because it has the focus. */
  const roleOf = ({ _id, role }: Member): Role =>
    change.isPending && change.variables.id === _id ? change.variables.role : role;
  const columns: readonly TableColumn<Member>[] = [
    {
      title: 'Member',
      className: 'clip',
      cell: (member) =>
        person(
          <>
            {member.email}
            {member._id === session.account?._id && <span className="quiet"> (you)</span>}
          </>,
          <>
            since <RelativeTime time={member.createdAt} />
          </>,
        ),
    },
    {
      title: 'Role',
      className: 'narrow',
      cell: (member) =>
        isOwner ? (
          <select
            className="input role"
            aria-label={`Role of ${member.email}`}
            value={roleOf(member)}
            onChange={({ target }) => change.mutate({ id: member._id, role: target.value as Role })}
          >
            {roles.map(({ value, label }) => (
              <option key={value} value={value}>
                {label}
              </option>
            ))}
          </select>
        ) : (
          <RoleBadge role={member.role} />
        ),
    },
  ];
  const removal: TableColumn<Member> = {
    id: 'removal',
    title: <span className="visually-hidden">Removal</span>,
    className: 'narrow',
    cell: (member) => (
      <Button look="plain" icon="trash" aria-label={`Remove ${member.email}`} onClick={() => setRemoved(member)} />
    ),
  };
  return (
    <>
      <VirtualTable
        label="List of members"
        rows={members}
        columns={isOwner ? [...columns, removal] : columns}
        keyOf={({ _id }) => _id}
      />
      {removed && (
        <Confirm
          title={`Remove ${removed.email}?`}
          action="Remove"
          isBusy={remove.isPending}
          problem={remove.error ? messageOf(remove.error) : undefined}
          onClose={() => setRemoved(undefined)}
          onConfirm={() => remove.mutate(removed._id, { onSuccess: () => setRemoved(undefined) })}
        >
          <p>The account stays, but opens this project no longer. Keys that the member knows still work.</p>
        </Confirm>
      )}
    </>
  );
}

type Invitation = Answer<'GET /v1/invitations'>['invitations'][number];

function InvitationTable({ invitations }: { readonly invitations: readonly Invitation[] }) {
  const withdraw = useAction(
    (id: string) => untilGone(call('DELETE /v1/invitations/{id}', { path: { id } })),
    'invitations',
  );
  const columns: readonly TableColumn<Invitation>[] = [
    {
      title: 'Invited',
      className: 'clip',
      cell: ({ email, role, expiresAt }) =>
        person(
          email,
          <>
            {roleNames[role]}, ends <RelativeTime time={expiresAt} />
          </>,
        ),
    },
    {
      id: 'withdrawal',
      title: <span className="visually-hidden">Withdrawal</span>,
      className: 'narrow',
      cell: ({ _id, email }) => (
        <Button
          aria-label={`Withdraw the invitation of ${email}`}
          isBusy={withdraw.isPending && withdraw.variables === _id}
          onClick={() => withdraw.mutate(_id)}
        >
          Withdraw
        </Button>
      ),
    },
  ];
  return <VirtualTable label="Invited people" rows={invitations} columns={columns} keyOf={({ _id }) => _id} />;
}

function Invite() {
  const toasts = useToasts();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  useUnsaved(email !== '');
  const invite = useChange(async (email: string) => {
    await call('POST /v1/invitations', { body: { email, role } });
    toasts.say(`The invitation to ${email} is ${areMailsSent ? 'on its way' : 'in the outbox folder'}.`);
  }, 'invitations');
  function submit() {
    invite.mutate(email, {
      // The next address may be typed already.
      onSuccess: () => setEmail((now) => (now === email ? '' : now)),
    });
  }
  const isAtField = problemAt(invite.error, 'email') !== undefined;
  return (
    <Form className="card card-body stack" label="Invite" error={invite.error} onSubmit={submit}>
      <div className="invite">
        <TextField
          label="Email"
          type="email"
          autoComplete="off"
          value={email}
          problem={problemAt(invite.error, 'email')}
          onChange={setEmail}
        />
        <SelectField<Role> label="Role" value={role} options={roles} onChange={setRole} />
        <Button type="submit" look="primary" isBusy={invite.isPending}>
          Invite
        </Button>
      </div>
      {!areMailsSent && (
        <p className="quiet small">
          No mails are sent here. The invitation goes to the outbox folder, where the operator of the server finds its
          link.
        </p>
      )}
      {invite.error && !isAtField && (
        <Notice tone="danger" role="alert">
          {messageOf(invite.error)}
        </Notice>
      )}
    </Form>
  );
}
