/** The frame of forms: sections, what is wrong as a whole, and the buttons. */
import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failure, isNotFound } from '../client/call';
import { Button, Notice } from '../components/controls';
import { messageOf } from '../components/toasts';
import { useWorkspace } from '../state/session';
import { leave } from '../state/unsaved';
import { isElsewhere } from './draft';

export const Section = ({ title, children }: { readonly title: string; readonly children: ReactNode }) => (
  <section className="card" aria-label={title}>
    <div className="card-head">
      <h2>{title}</h2>
    </div>
    <div className="card-body stack">{children}</div>
  </section>
);

interface ProblemProps {
  readonly form: {
    readonly error: unknown;
    /** Gives up what is typed. A form that is made anew for another revision needs none. */
    discard?(): void;
    /** Saves what is typed as a new record, in place of one that is gone. */
    recreate?(): void;
  };
  /** The fields that show problems of their own. */
  readonly fields: readonly string[];
}

/** Shows what no field shows: that somebody else was first, or another refusal. */
export function FormProblem({ form, fields }: ProblemProps) {
  const client = useQueryClient();
  const { error } = form;
  if (error instanceof Failure && error.status === 412) {
    return (
      <div className="form-problem">
        <Notice tone="warning" role="alert">
          Somebody else has changed this record meanwhile. Nothing was saved.{' '}
          <button
            type="button"
            className="link-button"
            onClick={() =>
              leave(() => {
                form.discard?.();
                void client.invalidateQueries();
              })
            }
          >
            Show its present state
          </button>
        </Notice>
      </div>
    );
  }
  if (isNotFound(error)) {
    return (
      <div className="form-problem">
        <Notice tone="warning" role="alert">
          Somebody else has deleted this record meanwhile. Nothing was saved.{' '}
          {form.recreate && (
            <button type="button" className="link-button" onClick={form.recreate}>
              Create it again
            </button>
          )}
        </Notice>
      </div>
    );
  }
  if (!isElsewhere(error, fields)) return null;
  return (
    <div className="form-problem">
      <Notice tone="danger" role="alert">
        {messageOf(error)}
      </Notice>
    </div>
  );
}

interface EndProps extends ProblemProps {
  readonly form: ProblemProps['form'] & { readonly isSaving: boolean };
  readonly action: string;
  /** The button or link that leaves the form. */
  readonly cancel?: ReactNode;
}

/** Shows what the fields do not say of a refusal, and the buttons of a form. */
export function FormEnd({ form, fields, action, cancel }: EndProps) {
  const { isOwner } = useWorkspace();
  return (
    <>
      <FormProblem form={form} fields={fields} />
      {isOwner && (
        <div className="form-actions">
          <Button look="primary" type="submit" isBusy={form.isSaving}>
            {action}
          </Button>
          {cancel}
        </div>
      )}
    </>
  );
}
