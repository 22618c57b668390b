/** The operations of the API by method and path, with the types of what they take and answer. */
import type { Operations } from './types.js';

/** Method and path, for example `PUT /v1/geofences/{tag}/{externalId}`. */
export type Operation = keyof Operations;
/** The body of the answer to an operation, with its `meta`. */
export type Answer<O extends Operation> = Operations[O]['answer'];

/** A merge patch: `null` clears a field. */
type Patch<Body> = { readonly [Name in keyof Body]?: Body[Name] | null | undefined };
type Loose<Given> = { readonly [Name in keyof Given]: Given[Name] | undefined };
type BodyOf<O extends Operation> = O extends `PATCH ${string}` ? Patch<Operations[O]['body']> : Operations[O]['body'];
type Part<Name extends string, Given> = keyof Given extends never
  ? { readonly [N in Name]?: undefined }
  : Record<never, never> extends Given
    ? { readonly [N in Name]?: Given }
    : { readonly [N in Name]: Given };

/**
 * What a call sends. `ifMatch` is the revision that an edit expects, `ifNoneMatch: '*'` that there is no record yet,
 * and `signal` ends the call.
 */
export type Input<O extends Operation> = Part<'path', Operations[O]['path']> &
  Part<'query', Loose<Operations[O]['query']>> &
  Part<'body', BodyOf<O>> & {
    readonly ifMatch?: string | undefined;
    readonly ifNoneMatch?: '*' | undefined;
    readonly signal?: AbortSignal | undefined;
  };

/** The operations that answer pages. */
export type PagedOperation = {
  [O in Operation]: 'cursor' extends keyof Operations[O]['query']
    ? Answer<O> extends { meta: { hasMore: boolean } }
      ? O
      : never
    : never;
}[Operation];

/** The records of a page: the type of the one list beside `meta`. */
export type RecordOf<O extends PagedOperation> = {
  [Name in Exclude<keyof Answer<O>, 'meta'>]: Answer<O>[Name] extends readonly (infer Each)[] ? Each : never;
}[Exclude<keyof Answer<O>, 'meta'>];

/** The values of an operation, whatever it is. */
export interface Given {
  readonly path?: Readonly<Record<string, string>> | undefined;
  readonly query?: object | undefined;
  readonly body?: object | undefined;
  readonly ifMatch?: string | undefined;
  readonly ifNoneMatch?: '*' | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Returns the path with its parameters filled in. Throws a TypeError for `.` and `..`: a URL drops these parts, encoded
 * or not, so the request would name another resource.
 */
export const pathOf = (template: string, path: Readonly<Record<string, string>> = {}): string =>
  template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = path[name] ?? '';
    if (value === '.' || value === '..')
      throw new TypeError(`${name}: "${value}" can't be a part of a path; use the id of the record`);
    return encodeURIComponent(value);
  });

/** Returns the query with its question mark, or nothing. Maps such as metadata become `metadata[name]=value`. */
export function queryOf(query: object = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    if (typeof value !== 'object') parameters.set(name, String(value));
    else for (const [key, each] of Object.entries(value)) parameters.set(`${name}[${key}]`, String(each));
  }
  const text = parameters.toString();
  return text && `?${text}`;
}
