/** The filters of a list. They are in the page's address, so that a list can be shared and found again. */
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import { useSearchParams } from 'wouter';
import type { BulkResource, Conditions } from '../client/bulk';
import { keepListFilters } from '../state/list-address';
import { Button } from './controls';
import { Icon } from './icons';

/** Returns the value after it has not changed for a moment, so that typing does not send a request per letter. */
export function useSettled<Value>(value: Value, delayMs = 250): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), delayMs);
    return () => clearTimeout(timer);
  }, [value, delayMs]);
  return settled;
}

const names = ['search', 'tag', 'externalId', 'state', 'key', 'value', 'sort'] as const;
type Name = (typeof names)[number];
type Values = Readonly<Record<Name, string>>;

/** The orders of a list, by their names in the API. */
export const sorts = [
  { value: '-updatedAt', label: 'Last updated' },
  { value: '-createdAt', label: 'Newest' },
  { value: 'createdAt', label: 'Oldest' },
  { value: 'description', label: 'Description, A to Z' },
  { value: '-description', label: 'Description, Z to A' },
] as const;
export type Sort = (typeof sorts)[number]['value'];

const states = [
  { value: '', label: 'Any state' },
  { value: 'enabled', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
] as const;

/** The filters of a list, as the address of the page has them. */
export interface ListFilters {
  /** What the filters ask the API for. */
  readonly conditions: Conditions;
  readonly sort: Sort;
  readonly isFiltered: boolean;
  sortBy(sort: Sort): void;
  clear(): void;
  readonly inputs: ReactNode;
}

const waitMs = 250;

interface TypedProps {
  readonly label: string;
  readonly value: string;
  onChange(value: string): void;
}

/**
 * Holds what is typed, and hands it on when the reader pauses. Follows the address when that changes otherwise.
 * @returns the text, and what sets it.
 */
export function useTyped(value: string, onChange: (value: string) => void) {
  const [text, setText] = useState(value);
  const [shown, setShown] = useState(value);
  if (shown !== value) {
    setShown(value);
    // A space at the end is the beginning of the next word.
    if (text.trim() !== value) setText(value);
  }
  // While another view loads, this one is hidden, which ends only layout effects. A change would lead back to it.
  useLayoutEffect(() => {
    if (text === value) return;
    const timer = setTimeout(() => onChange(text), waitMs);
    return () => clearTimeout(timer);
  }, [text, value, onChange]);
  return [text, setText] as const;
}

interface FilterProps extends TypedProps {
  readonly className?: string;
  /** Id of a list of proposals. */
  readonly list?: string;
}

/** Shows a filter of free text. It applies when the reader pauses, or at once by Enter. */
export function TypedFilter({ label, value, className = 'filter', list, onChange }: FilterProps) {
  const [text, setText] = useTyped(value, onChange);
  return (
    <input
      className={`input ${className}`}
      type="search"
      aria-label={label}
      placeholder={label}
      list={list}
      value={text}
      onChange={(event) => setText(event.target.value)}
      onKeyDown={({ key }) => key === 'Enter' && onChange(text)}
    />
  );
}

/** A filter that searches, with its sign. */
export function SearchField(props: TypedProps) {
  return (
    <div className="search">
      <Icon name="search" />
      <TypedFilter {...props} className="" />
    </div>
  );
}

/**
 * Reads the filters from the address of the page, and writes them there. They are kept for the way back to the list.
 */
export function useListFilters(resource: BulkResource): ListFilters {
  const [parameters, setParameters] = useSearchParams();
  const [isOpen, setOpen] = useState(false);
  const text = parameters.toString();
  const values = useMemo(() => {
    const given = new URLSearchParams(text);
    return Object.fromEntries(names.map((name) => [name, given.get(name) ?? ''])) as Values;
  }, [text]);
  useEffect(() => keepListFilters(resource, text), [resource, text]);

  // A choice can be taken back with the browser's Back. What is typed would fill its history.
  const put = useCallback(
    (name: Name, value: string, isChoice: boolean) =>
      setParameters(
        (before) => {
          const next = new URLSearchParams(before);
          if (value === '') next.delete(name);
          else next.set(name, value);
          return next;
        },
        { replace: !isChoice },
      ),
    [setParameters],
  );
  const setters = useMemo(
    () =>
      Object.fromEntries(names.map((name) => [name, (value: string) => put(name, value, false)])) as Record<
        Name,
        (value: string) => void
      >,
    [put],
  );
  // Another state would be refused nowhere: it would show the disabled ones, under "Any state".
  const state = states.find(({ value }) => value === values.state)?.value ?? '';
  const conditions = useMemo(
    (): Conditions => ({
      search: values.search || undefined,
      tag: values.tag || undefined,
      externalId: values.externalId || undefined,
      enabled: state === '' ? undefined : state === 'enabled',
      metadata: values.key !== '' && values.value !== '' ? { [values.key]: values.value } : undefined,
    }),
    [values, state],
  );
  const sort = sorts.find(({ value }) => value === values.sort)?.value ?? '-updatedAt';
  const furtherCount = [values.tag, values.externalId, conditions.metadata].filter(Boolean).length;
  const typed = (name: Name, label: string) => (
    <TypedFilter label={label} value={values[name]} onChange={setters[name]} />
  );
  return {
    conditions,
    sort,
    isFiltered: Object.values(conditions).some((condition) => condition !== undefined),
    sortBy: (next) => put('sort', next === '-updatedAt' ? '' : next, true),
    clear: () => setParameters({}),
    inputs: (
      <>
        <SearchField
          label={resource === 'geofences' ? 'Search names and addresses' : 'Search names'}
          value={values.search}
          onChange={setters.search}
        />
        <select
          className="input choice"
          aria-label="State"
          value={state}
          onChange={({ target }) => put('state', target.value, true)}
        >
          {states.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <select
          className="input choice"
          aria-label="Sort by"
          value={sort}
          onChange={({ target }) => put('sort', target.value === '-updatedAt' ? '' : target.value, true)}
        >
          {sorts.map(({ value, label }) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
        <Button
          className="filters-toggle"
          aria-expanded={isOpen}
          aria-label="Further filters"
          onClick={() => setOpen(!isOpen)}
        >
          {furtherCount > 0 ? `Filters (${furtherCount})` : 'Filters'}
        </Button>
        <div className={isOpen ? 'further-filters open' : 'further-filters'}>
          {typed('tag', 'Tag')}
          {typed('externalId', 'External id')}
          {typed('key', 'Metadata name')}
          {typed('value', 'Metadata value')}
        </div>
      </>
    ),
  };
}
