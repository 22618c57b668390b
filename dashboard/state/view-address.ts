/** What a view shows, in the page's address: it can be reloaded, shared, and found again with Back. */
import { useCallback, useMemo } from 'react';
import { useSearch } from 'wouter';
import { navigate } from 'wouter/use-browser-location';
import { scopeIn, withScope } from './scope-address';

/**
 * Returns the value of a parameter, and what sets it. A value that is not one of `values` is `otherwise`, which is not
 * written.
 */
export function useAddressChoice<Value extends string>(
  name: string,
  values: readonly Value[],
  otherwise: Value,
): readonly [value: Value, choose: (next: Value) => void] {
  const text = new URLSearchParams(useSearch()).get(name);
  const value = values.find((each) => each === text) ?? otherwise;
  const choose = useCallback(
    (next: Value) => writeParameters({ [name]: next === otherwise ? '' : next }, { replace: false }),
    [name, otherwise],
  );
  return [value, choose];
}

interface PutOptions {
  /** Whether Back takes the texts back. What is typed would fill the history. Default: false. */
  readonly isChoice?: boolean;
}

/** Returns texts of parameters, and what sets some of them. A text that is missing is empty. */
export function useAddressTexts<Name extends string>(
  names: readonly Name[],
): readonly [
  texts: Readonly<Record<Name, string>>,
  put: (texts: Partial<Record<Name, string>>, options?: PutOptions) => void,
] {
  const search = useSearch();
  // biome-ignore lint/correctness/useExhaustiveDependencies: a view has the same names throughout
  const texts = useMemo(() => {
    const parameters = new URLSearchParams(search);
    return Object.fromEntries(names.map((name) => [name, parameters.get(name) ?? ''])) as Record<Name, string>;
  }, [search]);
  const put = useCallback(
    (next: Partial<Record<Name, string>>, { isChoice = false }: PutOptions = {}) =>
      writeParameters(next as Record<string, string>, { replace: !isChoice }),
    [],
  );
  return [texts, put];
}

/**
 * Sets parameters of the address, or removes those that are empty. The view stays, with what is typed in it, so nobody
 * is asked about unsaved changes.
 */
function writeParameters(texts: Readonly<Record<string, string>>, options: { readonly replace: boolean }): void {
  const { pathname, search, hash } = location;
  const parameters = new URLSearchParams(search);
  for (const [name, text] of Object.entries(texts)) {
    if (text === '') parameters.delete(name);
    else parameters.set(name, text);
  }
  const address = withScope(`${pathname}?${parameters}${hash}`, scopeIn(search));
  // A tab reports both the press and the focus. Back would stay where it is.
  if (address !== pathname + search + hash) navigate(address, options);
}
