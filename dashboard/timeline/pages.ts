/** Reads lists page by page. Pure. */

interface Page<Item> {
  readonly items: readonly Item[];
  /** Of the next page; undefined: this is the last one. */
  readonly cursor: string | undefined;
}

/** Returns the items of all pages, or of the first pages that have at least `maxItems`. */
export async function readPages<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
  maxItems: number,
): Promise<{ readonly items: readonly Item[]; readonly hasMore: boolean }> {
  const items: Item[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined && items.length < maxItems);
  return { items, hasMore: cursor !== undefined };
}

/** Returns the cursor of the next page; undefined: there is none. */
export const nextOf = ({ hasMore, cursor }: { readonly hasMore: boolean; readonly cursor?: string }) =>
  hasMore ? cursor : undefined;
