/** A form of the entrance: it sends one call, and needs no project. */
import { type ReactNode, useRef, useState } from 'react';
import { type Answer, call, type Input, type Operation } from '../client/call';
import { Button, Notice, TextField } from '../components/controls';
import { Form } from '../components/form';
import { messageOf } from '../components/toasts';
import { isElsewhere, problemAt } from '../forms/draft';
import { useTitleOf } from '../state/page-title';

interface FormProps<O extends Operation> {
  readonly title: ReactNode;
  readonly intro?: ReactNode;
  /** The address whose password is asked for, so that the browser keeps and finds it. */
  readonly username?: string;
  readonly operation: O;
  readonly fields: readonly FieldName[];
  readonly action: string;
  /** Whether its action cannot be undone. */
  readonly isDangerous?: boolean;
  readonly more?: ReactNode;
  input(values: Values): Input<O>;
  then(answer: Answer<O>): void;
}

type FieldName = 'email' | 'password' | 'newPassword' | 'presentPassword' | 'nextPassword' | 'project' | 'name';
type Values = Record<FieldName, string>;

const fieldsOf = {
  email: { label: 'Email', type: 'email', autoComplete: 'username', param: 'email', hint: undefined },
  password: {
    label: 'Password',
    type: 'password',
    autoComplete: 'current-password',
    param: 'password',
    hint: undefined,
  },
  newPassword: {
    label: 'Password',
    type: 'password',
    autoComplete: 'new-password',
    param: 'password',
    hint: 'At least 12 characters',
  },
  presentPassword: {
    label: 'Current password',
    type: 'password',
    autoComplete: 'current-password',
    param: 'current',
    hint: undefined,
  },
  nextPassword: {
    label: 'New password',
    type: 'password',
    autoComplete: 'new-password',
    param: 'password',
    hint: 'At least 12 characters, without your address',
  },
  project: {
    label: 'Project',
    type: 'text',
    autoComplete: 'organization',
    param: 'project',
    hint: 'You can create geofences and keys in it',
  },
  name: { label: 'Name', type: 'text', autoComplete: 'organization', param: 'name', hint: undefined },
} as const;

const noValues: Values = {
  email: '',
  password: '',
  newPassword: '',
  presentPassword: '',
  nextPassword: '',
  project: '',
  name: '',
};

/** A form that sends one call, and shows at the field what the validator says. */
export function CallForm<O extends Operation>({
  title,
  intro,
  username,
  operation,
  fields,
  action,
  isDangerous = false,
  more,
  input,
  then,
}: FormProps<O>) {
  const [values, setValues] = useState(noValues);
  const [problem, setProblem] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const params = fields.map((name) => fieldsOf[name].param);

  async function submit() {
    setBusy(true);
    setProblem(undefined);
    try {
      then(await call(operation, input(values)));
    } catch (error) {
      setProblem(error);
      setBusy(false);
    }
  }
  return (
    <Form error={problem} onSubmit={() => void submit()}>
      <div>
        <Heading>{title}</Heading>
        {intro && <p className="quiet">{intro}</p>}
      </div>
      {username !== undefined && (
        <input type="text" name="username" autoComplete="username" value={username} readOnly hidden />
      )}
      {fields.map((name, index) => {
        const { label, type, autoComplete, hint, param: at } = fieldsOf[name];
        return (
          <TextField
            key={name}
            label={label}
            hint={hint}
            type={type}
            autoComplete={autoComplete}
            autoFocus={index === 0}
            value={values[name]}
            problem={problemAt(problem, at)}
            onChange={(value) => setValues((all) => ({ ...all, [name]: value }))}
          />
        );
      })}
      {isElsewhere(problem, params) && (
        <Notice tone="danger" role="alert">
          {messageOf(problem)}
        </Notice>
      )}
      <Button type="submit" look={isDangerous ? 'danger-primary' : 'primary'} isBusy={isBusy}>
        {action}
      </Button>
      {more}
    </Form>
  );
}

/** The heading of a part of the entrance, which names the tab of the browser as well. */
export function Heading({ children }: { readonly children: ReactNode }) {
  const element = useRef<HTMLHeadingElement>(null);
  useTitleOf(element);
  return <h1 ref={element}>{children}</h1>;
}

/** A button among text, which leads to another form. */
export const LinkButton = ({ children, onClick }: { readonly children: ReactNode; onClick(): void }) => (
  <button type="button" className="link-button" onClick={onClick}>
    {children}
  </button>
);

/** Leads back from a form that nobody has to send. */
export const BackButton = ({ onClick }: { onClick(): void }) => (
  <span className="small">
    <LinkButton onClick={onClick}>Back</LinkButton>
  </span>
);
