import { describeStateStoreContract } from '../contract/state-store.contract.js';
import { clusterSite } from './site.js';

describeStateStoreContract('Redis', clusterSite, { numRuns: 15 });
describeStateStoreContract('Redis Cluster', () => clusterSite({ redis: 'cluster' }), { numRuns: 15 });
