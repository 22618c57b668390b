/** There is one process: every turn is its own. */
import type { Leases } from '../../pipeline/ports.js';

export const embeddedLeases: Leases = { take: async () => true };
