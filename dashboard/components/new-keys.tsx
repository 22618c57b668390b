/** The keys of a new project, which are shown only once. */
import type { Project } from '../../client/types';
import { rememberKey } from '../state/fresh-keys';
import { environmentNames } from '../state/session';
import { Copyable } from './controls';

/** Keeps the keys for the examples that this page shows while it is open. */
export function rememberKeys({ _id, keys }: Project): void {
  for (const { environment, kind, key } of keys) if (key !== undefined) rememberKey(_id, environment, kind, key);
}

export const NewKeys = ({ project }: { readonly project: Project }) => (
  <div className="stack-tight">
    {project.keys.map(({ environment, kind, key = '' }) => (
      <div key={environment + kind}>
        <p className="label">
          {environmentNames[environment]}, {kind}
        </p>
        <Copyable text={key} label={`Copy the ${environment} ${kind} key`} />
      </div>
    ))}
  </div>
);
