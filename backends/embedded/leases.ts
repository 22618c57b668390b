/** Leases of a single process, which gets every one. */
import type { Leases } from '../../pipeline/ports.js';

export const embeddedLeases: Leases = { take: async () => true };
