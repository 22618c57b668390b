/** Who may use the project: members and open invitations. */
import { useState } from 'react';
import type { Member } from '../../client/types';
import { call, untilGone } from '../client/call';
import { useApi, useChange } from '../client/hooks';
import { Badge, Button, Confirm, Empty, Loading, Notice, Page, SelectField, TextField } from '../components/controls';
import { Form } from '../components/form';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { messageOf, useToasts } from '../components/toasts';
import { problemAt } from '../forms/draft';
import { useWorkspace } from '../state/session';

type Role = Member['role'];

const roles = [
  { value: 'owner', label: 'Owner' },
  { value: 'viewer', label: 'Viewer' },
] as const;

/** A project has no more, and a page of the API holds them. */
const maxMembers = 1_000;

export default function Members() {
  const { isOwner, session, project } = useWorkspace();
  const toasts = useToasts();
  const members = useApi('GET /v1/members', { query: { limit: maxMembers } });
  const invitations = useApi('GET /v1/invitations', {}, { enabled: isOwner });
  const [removed, setRemoved] = useState<Member>();
  const changeRole = useChange(
    ({ id, role }: { id: string; role: Role }) => call('PUT /v1/members/{id}', { path: { id }, body: { role } }),
    'members',
  );
  const remove = useChange((id: string) => untilGone(call('DELETE /v1/members/{id}', { path: { id } })), 'members');
  const withdraw = useChange(
    (id: string) => untilGone(call('DELETE /v1/invitations/{id}', { path: { id } })),
    'invitations',
  );
  const complain = { onError: toasts.complain };
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
      <section className="card" aria-label="Members" hidden={members.isError && !members.data}>
        <div className="card-head">
          <h2>Members</h2>
        </div>
        {members.isPending && <Loading rows={2} />}
        {members.data?.members.length === 0 && (
          <Empty title="Nobody has an account yet">
            <p>You are signed in by a one-time link. Invite yourself to get an account.</p>
          </Empty>
        )}
        <ul>
          {members.data?.members.map((member) => (
            <li key={member._id} className="list-row center">
              <div className="grow">
                <p className="label truncate">
                  {member.email}
                  {member._id === session.account?._id && <span className="quiet"> (you)</span>}
                </p>
                <p className="quiet small">
                  since <RelativeTime time={member.createdAt} />
                </p>
              </div>
              {isOwner ? (
                <div className="row">
                  <select
                    className="input role"
                    aria-label={`Role of ${member.email}`}
                    value={member.role}
                    disabled={changeRole.isPending}
                    onChange={({ target }) =>
                      changeRole.mutate({ id: member._id, role: target.value as Role }, complain)
                    }
                  >
                    {roles.map(({ value, label }) => (
                      <option key={value} value={value}>
                        {label}
                      </option>
                    ))}
                  </select>
                  <Button
                    look="plain"
                    icon="trash"
                    aria-label={`Remove ${member.email}`}
                    onClick={() => setRemoved(member)}
                  />
                </div>
              ) : (
                <Badge tone={member.role === 'owner' ? 'accent' : 'neutral'}>{member.role}</Badge>
              )}
            </li>
          ))}
        </ul>
      </section>
      {isOwner && (invitations.data?.invitations.length ?? 0) > 0 && (
        <section className="card" aria-label="Invitations">
          <div className="card-head">
            <h2>Open invitations</h2>
          </div>
          <ul>
            {invitations.data?.invitations.map(({ _id, email, role, expiresAt }) => (
              <li key={_id} className="list-row center">
                <div className="grow">
                  <p className="label truncate">{email}</p>
                  <p className="quiet small">
                    {role}, ends <RelativeTime time={expiresAt} />
                  </p>
                </div>
                <Button
                  aria-label={`Withdraw the invitation of ${email}`}
                  isBusy={withdraw.isPending && withdraw.variables === _id}
                  onClick={() => withdraw.mutate(_id, complain)}
                >
                  Withdraw
                </Button>
              </li>
            ))}
          </ul>
        </section>
      )}
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
    </Page>
  );
}

function Invite() {
  const toasts = useToasts();
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('viewer');
  const invite = useChange((email: string) => call('POST /v1/invitations', { body: { email, role } }), 'invitations');
  function submit() {
    invite.mutate(email, {
      onSuccess: () => {
        toasts.say(`An invitation to ${email} is on its way.`);
        // The next address may be typed already.
        setEmail((now) => (now === email ? '' : now));
      },
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
      {invite.error && !isAtField && (
        <Notice tone="danger" role="alert">
          {messageOf(invite.error)}
        </Notice>
      )}
    </Form>
  );
}
