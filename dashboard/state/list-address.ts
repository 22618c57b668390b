/** The filters of lists, by which a record leads back to its list as it was left. */
const left = new Map<string, string>();

/** Keeps the query of a list's address, for {@link listAddress}. */
export const keepListFilters = (resource: string, search: string): void => {
  left.set(resource, search);
};

/** Returns the path of a list with the filters that it was left with. */
export function listAddress(resource: string): string {
  const search = left.get(resource);
  return search ? `/${resource}?${search}` : `/${resource}`;
}
