/**
 * Options of every LMDB file that a node writes. The package's types lack the name.
 *
 * Free pages that stay in memory from one commit to the next. Each commit writes parts of their list again: with 75,000
 * by default, the commit of one record among many free pages took ten times as long (docs/decisions/173).
 */
export const fewFreePages = { maxFreeSpaceToRetain: 5_000 } as const;
