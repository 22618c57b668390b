/** Buttons, fields and the small parts that all views share. */
import {
  type ButtonHTMLAttributes,
  type InputHTMLAttributes,
  type ReactNode,
  type RefObject,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useEffect,
  useId,
  useRef,
  useState,
} from 'react';
import { copyText } from '../state/clipboard';
import { usePageTitle } from '../state/page-title';
import { ask, type Loss, useHeld } from '../state/unsaved';
import { useViewFocus } from '../state/view-focus';
import { Icon, type IconName } from './icons';
import { type Problem, ProblemText } from './problem';

const classes = (...names: (string | false | undefined)[]): string => names.filter(Boolean).join(' ');

interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  readonly look?: 'primary' | 'danger' | 'danger-primary' | 'plain';
  readonly icon?: IconName;
  readonly isCompact?: boolean;
  /** Shows that the action runs, and keeps it from running twice. */
  readonly isBusy?: boolean;
}

/**
 * Shows a button. While it is busy it is not disabled, because that would take the focus from it. Nor is one that has
 * the focus, such as that of the next page on the last one, until the focus leaves it.
 */
export function Button(props: ButtonProps) {
  const { look, icon, isCompact, isBusy = false, disabled = false, children, className, onClick, ...rest } = props;
  const [hasFocus, setFocus] = useState(false);
  const isOff = isBusy || (disabled && hasFocus);
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled && !hasFocus}
      aria-disabled={isOff || undefined}
      aria-busy={isBusy || undefined}
      onFocus={() => setFocus(true)}
      onBlur={() => setFocus(false)}
      onClick={isOff ? (event) => event.preventDefault() : onClick}
      className={classes('button', look, isCompact && 'compact', !children && 'icon', className)}
    >
      {isBusy ? <span className="spinner" /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** What a control needs of the field around it. */
interface Wiring {
  readonly id: string;
  readonly 'aria-describedby': string | undefined;
  readonly 'aria-invalid': boolean | undefined;
}

interface FieldProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly problem?: Problem | undefined;
  readonly className?: string;
  readonly children: (wiring: Wiring) => ReactNode;
}

/** A label, a control, a hint, and what the validator says about the value. */
function Field({ label, hint, problem, className, children }: FieldProps) {
  const id = useId();
  const described = classes(hint !== undefined && `${id}-hint`, problem !== undefined && `${id}-problem`);
  return (
    <div className={classes('field', className)}>
      <label className="label" htmlFor={id}>
        {label}
      </label>
      {children({ id, 'aria-describedby': described || undefined, 'aria-invalid': problem !== undefined || undefined })}
      <ProblemText label={label} problem={problem} id={`${id}-problem`} />
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}

type Described = Omit<FieldProps, 'children'>;

interface TextProps extends Described, Omit<InputHTMLAttributes<HTMLInputElement>, 'className' | 'onChange'> {
  readonly value: string;
  readonly unit?: string;
  readonly isCode?: boolean;
  onChange(value: string): void;
}

/** Shows a field of one line. Its direction follows what is typed. */
export function TextField({ label, hint, problem, className, unit, isCode, onChange, ...rest }: TextProps) {
  return (
    <Field label={label} hint={hint} problem={problem} {...(className !== undefined && { className })}>
      {(wiring) => {
        const input = (
          <input
            dir="auto"
            {...rest}
            {...wiring}
            className={classes('input', isCode && 'code', unit !== undefined && 'with-unit')}
            onChange={(event) => onChange(event.target.value)}
          />
        );
        if (unit === undefined) return input;
        return (
          <span className="unit-group">
            {input}
            <span className="unit">{unit}</span>
          </span>
        );
      }}
    </Field>
  );
}

interface AreaProps extends Described, Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, 'className' | 'onChange'> {
  readonly value: string;
  readonly isCode?: boolean;
  onChange(value: string): void;
}

/** Shows a field of several lines. Its direction follows what is typed. */
export function TextArea({ label, hint, problem, className, isCode, onChange, ...rest }: AreaProps) {
  return (
    <Field label={label} hint={hint} problem={problem} {...(className !== undefined && { className })}>
      {(wiring) => (
        <textarea
          dir="auto"
          {...rest}
          {...wiring}
          className={classes('input', isCode && 'code')}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}

interface SelectProps<Value extends string>
  extends Described,
    Omit<SelectHTMLAttributes<HTMLSelectElement>, 'className' | 'onChange' | 'value'> {
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  onChange(value: Value): void;
}

/** Shows a list of choices, of which one is chosen. */
export function SelectField<Value extends string>({
  label,
  hint,
  problem,
  className,
  options,
  onChange,
  ...rest
}: SelectProps<Value>) {
  return (
    <Field label={label} hint={hint} problem={problem} {...(className !== undefined && { className })}>
      {(wiring) => (
        <select {...rest} {...wiring} className="input" onChange={(event) => onChange(event.target.value as Value)}>
          {options.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}

interface CheckProps {
  readonly label: ReactNode;
  readonly hint?: ReactNode;
  readonly isChecked: boolean;
  readonly isDisabled?: boolean;
  onChange(isChecked: boolean): void;
}

/** Shows a choice between yes and no, with a hint below its label. */
export function Check({ label, hint, isChecked, isDisabled, onChange }: CheckProps) {
  return (
    <label className="check">
      <input
        type="checkbox"
        checked={isChecked}
        disabled={isDisabled}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {hint !== undefined && <span className="hint">{hint}</span>}
      </span>
    </label>
  );
}

interface SegmentsProps<Value extends string> {
  readonly legend: string;
  readonly value: Value;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly className?: string;
  onChange(value: Value): void;
}

/** A choice of a few, of which one is chosen. */
export function Segments<Value extends string>({ legend, value, options, className, onChange }: SegmentsProps<Value>) {
  const name = useId();
  return (
    <fieldset className={classes('segments', className)}>
      <legend className="visually-hidden">{legend}</legend>
      {options.map((option) => (
        <label key={option.value} className={option.value}>
          <input
            type="radio"
            name={name}
            value={option.value}
            checked={option.value === value}
            onChange={() => onChange(option.value)}
          />
          <span>{option.label}</span>
        </label>
      ))}
    </fieldset>
  );
}

type Tone = 'neutral' | 'success' | 'warning' | 'danger' | 'info' | 'accent';

export function Badge({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: ReactNode }) {
  return <span className={classes('badge', tone !== 'neutral' && tone)}>{children}</span>;
}

/** A second line of a cell on narrow screens, which have no place for its column. */
export const Beneath = ({ children }: { readonly children: ReactNode }) => (
  <span className="beneath truncate left quiet small" dir="auto">
    {children}
  </span>
);

interface NoticeProps {
  readonly tone?: 'info' | 'warning' | 'danger' | 'success';
  readonly children: ReactNode;
  readonly role?: 'alert' | 'status';
}

export function Notice({ tone = 'info', children, role }: NoticeProps) {
  return (
    <div className={classes('notice', tone)} role={role}>
      <Icon name={tone === 'info' ? 'info' : tone === 'success' ? 'check' : 'warning'} />
      <div>{children}</div>
    </div>
  );
}

const copiedMs = 1_600;

/** A button that puts a text on the clipboard, and says so, or that the browser refuses. */
interface CopyButtonProps {
  readonly text: string;
  readonly label?: string;
  /** Called when the clipboard has the text. */
  onCopied?(): void;
}

/** Copies a text. It says for a moment that it has, or that the browser refused. */
export function CopyButton({ text, label = 'Copy', onCopied }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<'copied' | 'refused'>();
  useEffect(() => {
    if (outcome !== 'copied') return;
    const timer = setTimeout(() => setOutcome(undefined), copiedMs);
    return () => clearTimeout(timer);
  }, [outcome]);
  async function copy() {
    const isCopied = await copyText(text);
    setOutcome(isCopied ? 'copied' : 'refused');
    if (isCopied) onCopied?.();
  }
  if (outcome === 'refused') {
    return (
      <Button isCompact look="plain" icon="warning" onClick={() => void copy()}>
        Not copied
      </Button>
    );
  }
  return (
    <Button
      isCompact
      look="plain"
      icon={outcome === 'copied' ? 'check' : 'copy'}
      aria-label={outcome === 'copied' ? 'Copied' : label}
      title={label}
      onClick={() => void copy()}
    />
  );
}

/** Shows a text of one line with the button that copies it. */
export function Copyable({ text, label }: { readonly text: string; readonly label: string }) {
  return (
    <div className="copyable">
      <code>{text}</code>
      <CopyButton text={text} label={label} />
    </div>
  );
}

/** Text that may be larger than its place: it scrolls, also by keyboard. */
export function Block({ label, children }: { readonly label: string; readonly children: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="pre" aria-label={label} tabIndex={0}>
      <pre>{children}</pre>
    </section>
  );
}

interface DialogProps {
  readonly title: string;
  /** Whether its action runs. Until the answer it stays, because the answer may be a secret or a problem. */
  readonly isBusy?: boolean;
  /** What is lost with it, if it is not left by its own buttons. Default: nothing. */
  readonly holds?: Exclude<Loss, 'answer'> | undefined;
  readonly onClose: () => void;
  readonly children: ReactNode;
  readonly isWide?: boolean;
}

/**
 * What has the focus when a dialog opens: its first field, or else the first button of its foot, which changes nothing,
 * unless that is out of sight. The browser would choose the cross, which is the first in order.
 */
const firstControl = '.dialog-body :is(input, select, textarea):enabled, .dialog-foot button:enabled';

/** Opens a dialog of the browser as long as it is there, and gives the focus back. */
export function useModal() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    const before = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>(firstControl)?.focus();
    if (dialog && dialog.scrollTop > 0) {
      // It is below what is to be read first.
      dialog.tabIndex = -1;
      dialog.focus({ preventScroll: true });
      dialog.scrollTop = 0;
    }
    return () => {
      dialog?.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return element;
}

/**
 * Handles the key Escape while the dialog is busy or asks first. A browser closes at the second Escape what has refused
 * the first one, unless it does not hear of it. The key goes to the document: the disabled fields of a busy dialog have
 * lost the focus.
 */
function useEscape(element: RefObject<HTMLDialogElement | null>, isHandled: boolean, onEscape: () => void): void {
  const latest = useRef(onEscape);
  useEffect(() => {
    latest.current = onEscape;
  });
  useEffect(() => {
    if (!isHandled) return;
    const handle = (event: KeyboardEvent) => {
      const place = event.target instanceof Element ? event.target.closest('dialog') : null;
      // Another dialog may lie over this one.
      if (event.key !== 'Escape' || (place !== null && place !== element.current)) return;
      event.preventDefault();
      latest.current();
    };
    document.addEventListener('keydown', handle);
    return () => document.removeEventListener('keydown', handle);
  }, [element, isHandled]);
}

/** A modal dialog of the browser: it traps the focus, closes on Escape, and hides the rest from screen readers. */
export function Dialog({ title, isBusy = false, holds, onClose, children, isWide }: DialogProps) {
  const element = useModal();
  const id = useId();
  useHeld(holds);
  useHeld(isBusy ? 'answer' : undefined);
  const hasChanges = holds === 'changes';
  /** Escape is pressed by mistake, and on a phone Back does the same. */
  function dismiss(): void {
    if (isBusy) return;
    if (hasChanges) ask('changes', onClose);
    else onClose();
  }
  useEscape(element, isBusy || hasChanges, dismiss);
  return (
    <dialog
      ref={element}
      className={classes('dialog', isWide && 'wide')}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        dismiss();
      }}
      // A browser lets a page refuse only once until its user does something.
      onClose={({ currentTarget }) => currentTarget.open || onClose()}
    >
      <div className="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button look="plain" icon="close" aria-label="Close" disabled={isBusy} onClick={onClose} />
      </div>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: ReactNode;
  readonly action: string;
  readonly isBusy?: boolean;
  /** Why the action failed. That of an earlier dialog is not shown. */
  readonly problem?: string | undefined;
  /** Default: it is. */
  readonly isDangerous?: boolean;
  onConfirm(): void;
  onClose(): void;
}

/** Asks before an action that cannot be undone. */
export function Confirm(props: ConfirmProps) {
  const { title, children, action, isBusy = false, problem, isDangerous = true, onConfirm, onClose } = props;
  const [isConfirmed, setConfirmed] = useState(false);
  return (
    <Dialog title={title} isBusy={isBusy} onClose={onClose}>
      <div className="dialog-body">
        <div>{children}</div>
        {isConfirmed && problem !== undefined && (
          <Notice tone="danger" role="alert">
            {problem}
          </Notice>
        )}
      </div>
      <div className="dialog-foot">
        <Button disabled={isBusy} onClick={onClose}>
          Cancel
        </Button>
        <Button
          look={isDangerous ? 'danger-primary' : 'primary'}
          isBusy={isBusy}
          onClick={() => {
            setConfirmed(true);
            onConfirm();
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  );
}

interface EmptyProps {
  readonly title: string;
  readonly children?: ReactNode;
  readonly actions?: ReactNode;
}

/** Stands where a list would be, and says how it gets its first row. */
export function Empty({ title, children, actions }: EmptyProps) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
      {actions && <div className="row">{actions}</div>}
    </div>
  );
}

interface PageProps {
  readonly title: string;
  readonly intro?: ReactNode;
  readonly actions?: ReactNode;
  readonly above?: ReactNode;
  readonly isNarrow?: boolean;
  readonly children: ReactNode;
}

/** A view: its heading, its main actions, its content. */
export function Page({ title, intro, actions, above, isNarrow, children }: PageProps) {
  usePageTitle(title);
  useViewFocus();
  return (
    <div className={classes('page', isNarrow && 'narrow')}>
      <div className="page-head">
        <div>
          {above}
          <h1 dir="auto">{title}</h1>
          {intro && <p>{intro}</p>}
        </div>
        {actions && <div className="row">{actions}</div>}
      </div>
      {children}
    </div>
  );
}

/** Placeholders for content that is loading. */
export function Loading({ rows = 6 }: { readonly rows?: number }) {
  return (
    <div className="card-body stack" role="status" aria-label="Loading">
      {Array.from({ length: rows }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all the same
        <div key={index} className="skeleton" />
      ))}
    </div>
  );
}

interface IssuedProps {
  readonly title: string;
  readonly text: string;
  readonly copyLabel: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** Shows a key or a secret, which is shown only this once. */
export const Issued = ({ title, text, copyLabel, onClose, children }: IssuedProps) => (
  <Dialog title={title} holds="secret" onClose={onClose}>
    <div className="dialog-body">
      <p>{children}</p>
      <Copyable text={text} label={copyLabel} />
    </div>
    <div className="dialog-foot">
      <Button look="primary" onClick={onClose}>
        Done
      </Button>
    </div>
  </Dialog>
);
