import { describeLogContract } from '../../contract/log.contract.js';
import { clusterSite } from '../site.js';

describeLogContract('cluster', clusterSite, { numRuns: 15 });
