/** Forms that send one change, and bring the user to what was refused. */
import { type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef, useState } from 'react';
import { Button, Dialog, Notice } from './controls';

interface FormProps {
  /** Why the last attempt failed; null and undefined: it did not. */
  readonly error: unknown;
  readonly className?: string;
  readonly label?: string | undefined;
  readonly children: ReactNode;
  /** Gets the element, if others need it. */
  readonly form?: RefObject<HTMLFormElement | null>;
  onSubmit(): void;
}

/** A form whose first refused field gets the focus. What no field shows is brought into sight. */
export function Form({ error, className, label, children, onSubmit, form: given }: FormProps) {
  const own = useRef<HTMLFormElement>(null);
  const form = given ?? own;
  // An effect runs when the problems are in the document, and each refusal is another object.
  useEffect(() => {
    if (error === null || error === undefined) return;
    const field = form.current?.querySelector<HTMLElement>('[aria-invalid="true"]');
    const problem = field ?? form.current?.querySelector('[role="alert"]');
    problem?.scrollIntoView({ block: 'center' });
    field?.focus({ preventScroll: true });
  }, [error, form]);
  return (
    <form
      ref={form}
      className={className}
      aria-label={label}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    >
      {children}
    </form>
  );
}

interface FieldsProps {
  readonly isSaving: boolean;
  /** Viewers see the fields, but change nothing. Default: they may be edited. */
  readonly isReadOnly?: boolean;
  readonly className?: string;
  readonly children: ReactNode;
}

/**
 * Locks the fields of a form while it saves: the answer replaces what they hold. A field that had the focus gets it
 * back.
 */
export function FormFields({ isSaving, isReadOnly = false, className, children }: FieldsProps) {
  const focused = useRef<HTMLElement>(null);
  // Browsers take the focus from a field that is disabled.
  useLayoutEffect(() => {
    if (!isSaving && document.activeElement === document.body) focused.current?.focus();
  }, [isSaving]);
  return (
    <fieldset
      className={className}
      disabled={isReadOnly || isSaving}
      onFocus={({ target }) => {
        focused.current = target;
      }}
    >
      {children}
    </fieldset>
  );
}

interface FormDialogProps {
  readonly title: string;
  readonly action: string;
  readonly isBusy: boolean;
  readonly error: unknown;
  /** What is wrong, unless it is said at a field. */
  readonly problem: string | undefined;
  readonly isDangerous?: boolean;
  /** Whether it may be sent. Default: it may. */
  readonly isReady?: boolean;
  readonly children: ReactNode;
  onSubmit(): void;
  onClose(): void;
}

/** Returns what the fields of a form hold, as text that can be compared. */
const contentOf = (form: HTMLFormElement): string =>
  JSON.stringify(
    [...form.elements].map((field) => {
      if (field instanceof HTMLInputElement && (field.type === 'checkbox' || field.type === 'radio'))
        return field.checked;
      return 'value' in field ? field.value : null;
    }),
  );

/** Returns whether the fields of a form hold something else than when it opened. */
function useIsChanged(form: RefObject<HTMLFormElement | null>): boolean {
  const opened = useRef<string>(undefined);
  const [isChanged, setChanged] = useState(false);
  // Each key that is pressed renders the form again.
  useLayoutEffect(() => {
    if (form.current === null) return;
    const content = contentOf(form.current);
    opened.current ??= content;
    setChanged(content !== opened.current);
  });
  return isChanged;
}

/** A form in a dialog. It asks before the browser leaves it, or Escape closes it, with changes. */
export function FormDialog(props: FormDialogProps) {
  const { title, action, isBusy, error, problem, isDangerous = false, isReady = true, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const isChanged = useIsChanged(form);
  return (
    <Dialog title={title} isBusy={isBusy} holds={isChanged ? 'changes' : undefined} onClose={props.onClose}>
      <Form form={form} error={error} onSubmit={() => isReady && props.onSubmit()}>
        <FormFields className="dialog-body" isSaving={isBusy}>
          {children}
          {problem !== undefined && (
            <Notice tone="danger" role="alert">
              {problem}
            </Notice>
          )}
        </FormFields>
        <div className="dialog-foot">
          <Button disabled={isBusy} onClick={props.onClose}>
            Cancel
          </Button>
          <Button type="submit" look={isDangerous ? 'danger-primary' : 'primary'} disabled={!isReady} isBusy={isBusy}>
            {action}
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
