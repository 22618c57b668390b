/** Creates an account with a project and its four keys, all or nothing. */
import type { ConfigurationReader, ConfigurationWriter } from '../../pipeline/catalog/types.js';
import { type ApiError, fieldError } from '../../schemas/errors.js';
import { deriveId } from '../../schemas/ids.js';
import type { AccountRecord } from '../../schemas/json/account.js';
import { type NewProject, newProject } from '../projects/projects.js';
import { accountIdOf, memberOf, newAccount } from './accounts.js';
import type { PendingSignUp } from './dependencies.js';

interface Configured {
  readonly configuration: ConfigurationReader;
  readonly writer: ConfigurationWriter;
}

const taken = (): ApiError => fieldError('conflict', { param: 'email', rule: 'this address has an account; sign in' });

/**
 * Writes a new account. Of concurrent calls for one address, on any node, one succeeds; the others throw `conflict`.
 */
export async function createAccount(
  { configuration, writer }: Configured,
  email: string,
  passwordHash: string,
): Promise<AccountRecord> {
  await writer.catchUp();
  const account = newAccount(email, passwordHash, writer.nextTimestamp());
  if (configuration.account(account._id)) throw taken();
  const bases = configuration.bases('account', account._id);
  const [outcome] = await writer.write([{ kind: 'account', id: account._id, record: account, bases }]);
  if (outcome?.kind !== 'applied') throw taken();
  return account;
}

/**
 * Creates an account like {@link createAccount}, with a project that the account owns. Both are appended together. The
 * id of the project follows from the account and from what it replaces. Of concurrent sign-ups of an address one
 * creates the project and the account, and the others nothing. If a crash leaves a project without its account, the
 * next sign-up of the address replaces it: nobody has seen its keys.
 */
export async function createAccountAndProject(
  { configuration, writer }: Configured,
  { email, passwordHash, project: name }: PendingSignUp,
): Promise<NewProject & { readonly account: AccountRecord }> {
  await writer.catchUp();
  if (configuration.account(accountIdOf(email))) throw taken();
  const nowMs = writer.nextTimestamp();
  const account = newAccount(email, passwordHash, nowMs);
  const bases = configuration.bases('account', account._id);
  const id = deriveId('first-project', account._id, bases.join(','));
  const made = newProject({ name }, nowMs, id);
  const project = { ...made.project, members: [memberOf(account, 'owner', nowMs)] };
  const [created, outcome] = await writer.write([
    { kind: 'project', id, record: project, bases: configuration.bases('project', id) },
    { kind: 'account', id: account._id, record: account, bases },
  ]);
  if (outcome?.kind === 'applied' && created?.kind === 'applied') return { ...made, project, account };
  throw taken();
}
