/** Deletes the project for its owner, who types its name. */
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { navigate } from 'wouter/use-browser-location';
import { callLast } from '../client/call';
import { useChange } from '../client/hooks';
import { Section } from '../forms/parts';
import { replaceSession, useWorkspace } from '../state/session';
import { Button, TextField } from './controls';
import { FormDialog } from './form';
import { messageOf, useToasts } from './toasts';

/** Deletes the chosen project, after its name was typed. */
export function DeleteProject() {
  const { isOwner } = useWorkspace();
  const [isAsking, setAsking] = useState(false);
  if (!isOwner) return null;
  return (
    <Section title="Delete the project">
      <p className="quiet">
        Its keys stop working at once, in Test and in Live. Its geofences, users, events and webhooks are erased. Apps
        that still use a key get errors.
      </p>
      <div>
        <Button look="danger" icon="trash" onClick={() => setAsking(true)}>
          Delete project
        </Button>
      </div>
      {isAsking && <Confirmation onClose={() => setAsking(false)} />}
    </Section>
  );
}

function Confirmation({ onClose }: { onClose(): void }) {
  const { session, project } = useWorkspace();
  const client = useQueryClient();
  const toasts = useToasts();
  const [name, setName] = useState('');
  const remove = useChange(async (_: undefined, scope) => {
    const input = { path: { id: project._id }, query: { name } };
    await callLast(scope, 'DELETE /v1/projects/{id}', input, async () => ({ meta: { code: 202 } }));
    const projects = session.projects.filter(({ _id }) => _id !== project._id);
    // A session of a one-time link ends with its project.
    replaceSession(client, session.account ? { ...session, projects } : null);
    // Without the project in the address.
    navigate('/');
    toasts.say(`${project.name} is deleted.`);
  });
  return (
    <FormDialog
      title={`Delete ${project.name}?`}
      action="Delete project"
      isDangerous
      isReady={name === project.name}
      isBusy={remove.isPending}
      error={remove.error}
      problem={remove.error ? messageOf(remove.error) : undefined}
      onClose={onClose}
      onSubmit={() => remove.mutate(undefined)}
    >
      <p>
        This can't be undone. To confirm, type{' '}
        <strong>
          <bdi>{project.name}</bdi>
        </strong>
        .
      </p>
      <TextField label="Name of the project" autoComplete="off" value={name} onChange={setName} />
    </FormDialog>
  );
}
