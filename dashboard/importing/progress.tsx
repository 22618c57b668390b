/** How far something is. */
import { type ReactNode, useId } from 'react';

interface Props {
  readonly label: string;
  readonly done: number;
  /** 0: not known. */
  readonly total: number;
  readonly text: string;
  readonly children?: ReactNode;
}

export function Progress({ label, done, total, text, children }: Props) {
  const id = useId();
  return (
    <div className="progress-row">
      <div className="grow stack-tight">
        <progress
          className="progress"
          aria-label={label}
          aria-describedby={id}
          {...(total > 0 && { value: Math.min(done, total), max: total })}
        />
        <p className="quiet small" id={id}>
          {text}
        </p>
      </div>
      {children}
    </div>
  );
}
