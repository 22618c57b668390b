/**
 * Finds secrets that the encryption key of a node can't decrypt. In a cluster every node gets the key from its
 * environment, so one with another key would start like the others: its webhooks send nothing, and deliveries end there
 * after their last attempt. A node that is meant to have a new key starts as well, because the old one is lost.
 */
import type { Logger } from 'pino';
import { environments } from '../../api/projects/projects.js';
import { credentialsOf } from '../../imports/sync/record.js';
import type { ConfigurationReader } from '../../pipeline/catalog/types.js';
import type { SecretCipher } from '../../pipeline/encryption.js';

interface SecretsParts {
  readonly readModel: Pick<ConfigurationReader, 'projects' | 'webhooks' | 'syncs'>;
  readonly secretCipher: SecretCipher;
  readonly logger: Pick<Logger, 'error'>;
}

/** Logs how many webhooks and syncs have secrets that can't be decrypted, if there are any. */
export function reportUnreadableSecrets({ readModel, secretCipher, logger }: SecretsParts): void {
  const webhooks = readModel
    .projects()
    .flatMap(({ _id: project }) => environments.flatMap((environment) => readModel.webhooks({ project, environment })))
    .filter(({ _id, secrets: [newest] }) => newest && secretCipher.decrypt(newest.sealed, _id) === undefined).length;
  const syncs = readModel
    .syncs()
    .filter((sync) => sync.sealedCredentials !== null && credentialsOf(sync, secretCipher) === null).length;
  if (webhooks + syncs === 0) return;
  logger.error(
    { webhooks, syncs },
    'secrets were encrypted with another encryption key: these webhooks send nothing, and these syncs read nothing. ' +
      'Start every node with the key that they were encrypted with. If it is lost, create new secrets',
  );
}
