/** Names of the built-in styles. */

export const builtInStyles = ['svc-default-v1', 'svc-light-v1', 'svc-dark-v1'] as const;
export type BuiltInStyle = (typeof builtInStyles)[number];

export const isBuiltInStyle = (name: string): name is BuiltInStyle => builtInStyles.some((known) => known === name);
