import { describePositionsContract } from '../contract/positions.contract.js';
import { clusterSite } from './site.js';

describePositionsContract('Redis', clusterSite);
describePositionsContract('Redis Cluster', () => clusterSite({ redis: 'cluster' }));
