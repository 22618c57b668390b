/** Names of the built-in styles. */

/** The names by which requests select a style. */
export const builtInStyles = ['svc-default-v1', 'svc-light-v1', 'svc-dark-v1'] as const;
/** The name of a built-in style. */
export type BuiltInStyle = (typeof builtInStyles)[number];

/** The names of the same styles in other services, whose clients ask for them. */
const aliases: Readonly<Record<string, BuiltInStyle>> = {
  'radar-default-v1': 'svc-default-v1',
  'radar-light-v1': 'svc-light-v1',
  'radar-dark-v1': 'svc-dark-v1',
};

/** Returns the name of the style that a request means. */
export const styleNamed = (name: string): string => (Object.hasOwn(aliases, name) ? aliases[name]! : name);

/** Returns whether a name is that of a built-in style. */
export const isBuiltInStyle = (name: string): name is BuiltInStyle => builtInStyles.some((known) => known === name);
