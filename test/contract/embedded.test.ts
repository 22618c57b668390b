import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '../../backends/embedded/embedded.js';
import type { BackendSite } from './backend.js';
import { describeLogContract } from './log.contract.js';
import { describePositionsContract } from './positions.contract.js';
import { describeStateStoreContract } from './state-store.contract.js';

async function embeddedSite(): Promise<BackendSite> {
  const path = await mkdtemp(join(tmpdir(), 'fenceline-contract-'));
  return {
    open: async () => openEmbedded({ path, partitions: 4 }),
    remove: () => rm(path, { recursive: true }),
  };
}

describeLogContract('embedded', embeddedSite);
describeStateStoreContract('embedded', embeddedSite);
describePositionsContract('embedded', embeddedSite);
