/** Checks the schema registry: reach, login, and that it has Confluent's API. Registers nothing. */
import type { RegistryOptions } from '../../backends/cluster/options.js';
import { createRegistryClient, isRefusal } from '../../backends/cluster/registry/client.js';
import { type Finding, findingsAbout } from './finding.js';

const { ok, failure } = findingsAbout('registry');

/** Yields one finding, also when the registry refuses the login. */
export async function* checkRegistry(options: RegistryOptions): AsyncGenerator<Finding> {
  try {
    // Any id will do: a registry without a schema of this id answers with its own error.
    await createRegistryClient(options, () => {}).schemaOf(1);
    yield ok('it answers as a schema registry');
  } catch (error) {
    yield failure(
      (error as Error).message,
      isRefusal(error)
        ? 'Check the path in registry.url, registry.username and FENCELINE_REGISTRY_PASSWORD.'
        : 'Check registry.url, registry.caFile, firewalls, and whether the registry runs.',
    );
  }
}
