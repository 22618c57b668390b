/**
 * The project and environment in the page's address. So a link shows what its sender saw, and two tabs may show two
 * projects. Views do not see these parameters: `ScopedRouter` takes them off and puts them on again. Pure.
 */
import type { Environment, Scope } from '../client/call';

const names = ['project', 'environment'] as const satisfies readonly (keyof Scope)[];

/** What an address names of a scope. */
type NamedScope = { readonly [Name in keyof Scope]: Scope[Name] | undefined };

/** Returns what the query of an address names. */
export function scopeIn(query: string): NamedScope {
  const parameters = new URLSearchParams(query);
  const environment = parameters.get('environment');
  const isEnvironment = (text: string | null): text is Environment => text === 'test' || text === 'live';
  return {
    project: parameters.get('project') || undefined,
    environment: isEnvironment(environment) ? environment : undefined,
  };
}

/** Returns the query of an address without project and environment, as views read it. */
export function withoutScope(query: string): string {
  const parameters = new URLSearchParams(query);
  for (const name of names) parameters.delete(name);
  return parameters.toString();
}

/**
 * Returns the address with the project and environment, in place of those that it has.
 * @param address is a path of the dashboard, which may have a query and a fragment.
 */
export function withScope(address: string, scope: NamedScope): string {
  const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(address) ?? [];
  const own = query
    .slice(1)
    .split('&')
    .filter((part) => part !== '' && !names.some((name) => part.startsWith(`${name}=`)));
  const ofScope = names.flatMap((name) =>
    scope[name] === undefined ? [] : [`${name}=${encodeURIComponent(scope[name])}`],
  );
  const all = [...own, ...ofScope].join('&');
  return `${path}${all && `?${all}`}${fragment}`;
}
