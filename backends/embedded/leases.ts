/** There is one process: every turn is its own. */
import type { Turns } from '../../pipeline/ports.js';

export const embeddedLeases: Turns = { take: async () => true };
