/** There is one process: every turn is its own. */
import type { Turns } from '../../pipeline/ports.js';

export const embeddedTurns: Turns = { take: async () => true };
