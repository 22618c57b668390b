/** What is wrong with the value of a field, in a sentence that begins with the field's label. */
import type { ReactNode } from 'react';

/** What the validator says about a field. */
interface BrokenRule {
  /** What it is about within the field, such as a name of metadata. Undefined: the whole field. */
  readonly part: string | undefined;
  /** Continues a sentence that begins with the label, or with the part. */
  readonly rule: string;
}

/** A sentence of its own, or a rule. */
export type Problem = string | BrokenRule;

interface Props {
  readonly label: ReactNode;
  readonly problem: Problem | undefined;
  readonly id?: string;
}

/** Shows the problem at a field, and reads it aloud. Nothing without one. */
export const ProblemText = ({ label, problem, id }: Props) =>
  problem !== undefined && (
    <p className="problem" id={id} role="alert">
      {typeof problem === 'string' ? (
        problem
      ) : (
        <>
          {problem.part ?? label} {problem.rule}
        </>
      )}
    </p>
  );
