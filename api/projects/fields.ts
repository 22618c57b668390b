/** The fields of a project: the one table. Pure. */
import { FieldReader, type Outcome, type RawFields } from '../../http/fields/reader.js';
import { choiceField, readChange, refuseUnknown, required, textField } from '../../http/fields/table.js';
import { Project, type ProjectRecord } from '../../schemas/json/project.js';
import { maxProjectNameLength } from './projects.js';

const plans = ['basic', 'enterprise'] as const;

/** The fields of a project in requests. */
export const projectFields = {
  name: required(textField({ maxLength: maxProjectNameLength })),
  plan: choiceField(plans, 'Has an effect only where the operator enables plans (`plans.enabled`)'),
};

type ProjectInput = Pick<ProjectRecord, 'name' | 'plan'>;

/** Reads a new project, or a change of one: a field that is not named stays, and a plan that is null is none. */
export function readProject(current: ProjectRecord | undefined, fields: RawFields): Outcome<ProjectInput> {
  const reader = new FieldReader(fields);
  refuseUnknown(reader, projectFields, fields, Object.keys(Project.properties));
  const before = current && { name: current.name, plan: current.plan ?? null };
  const { name, plan } = readChange(reader, projectFields, fields, before);
  return reader.outcome(() => ({ name, ...(plan !== null && { plan }) }));
}
