import { describeStateStoreContract } from '../contract/state-store.contract.js';
import { clusterSite } from './site.js';

describeStateStoreContract('Redis', clusterSite);
describeStateStoreContract('Redis Cluster', () => clusterSite({ redis: 'cluster' }));
