/** The search of the map: records by their names, and addresses by the server's geocoder. */
import { type KeyboardEvent, useEffect, useId, useMemo, useState } from 'react';
import type { AllPlaces } from '../client/all-places';
import { Failure } from '../client/call';
import { useApi } from '../client/hooks';
import { Badge } from '../components/controls';
import { Icon } from '../components/icons';
import { useSettled } from '../components/list-filters';
import { type Place, searchPlaces } from './places';
import type { Position } from './shape';

const maxFound = 50;
const maxAddresses = 5;
const minAddressLength = 3;

/** What a search on the map finds. */
export type Found =
  | { readonly type: 'place'; readonly place: Place }
  | { readonly type: 'address'; readonly label: string; readonly position: Position; readonly isExact: boolean };

interface Props {
  readonly places: AllPlaces;
  onGo(found: Found): void;
}

function useAddresses(text: string): { readonly found: readonly Found[]; readonly hasFailed: boolean } {
  const query = useSettled(text.trim(), 350);
  const { data, error } = useApi(
    'GET /v1/geocode/forward',
    { query: { query, limit: maxAddresses } },
    { enabled: query.length >= minAddressLength, staleTime: Number.POSITIVE_INFINITY },
  );
  // A server without a geocoder finds records only.
  const hasFailed = error !== null && !(error instanceof Failure && error.type === 'not_available');
  if (error !== null || data === undefined || text.trim().length < minAddressLength) return { found: [], hasFailed };
  const found = data.addresses.map(
    ({ formattedAddress, latitude, longitude, layer }): Found => ({
      type: 'address',
      label: formattedAddress,
      position: [longitude, latitude],
      isExact: layer === 'address',
    }),
  );
  return { found, hasFailed };
}

export function MapSearch({ places, onGo }: Props) {
  const id = useId();
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const settled = useSettled(text, 150);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the places change in place, and their version says so
  const records = useMemo(
    () => searchPlaces(settled, places.byId.values(), maxFound),
    [settled, places.byId, places.version],
  );
  const addresses = useAddresses(text);
  const found: readonly Found[] = [
    ...records.map((place): Found => ({ type: 'place', place })),
    ...(settled === '' ? [] : addresses.found),
  ];
  const isShown = isOpen && settled !== '';
  // biome-ignore lint/correctness/useExhaustiveDependencies: other results begin with the first
  useEffect(() => setActive(0), [settled]);
  useEffect(() => {
    document.getElementById(`${id}-${active}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, active]);

  function go(each: Found | undefined) {
    if (each === undefined) return;
    setOpen(false);
    onGo(each);
  }
  function onKey(event: KeyboardEvent) {
    const { key } = event;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      setOpen(true);
      const step = key === 'ArrowDown' ? 1 : -1;
      if (found.length > 0) setActive((now) => (now + step + found.length) % found.length);
    } else if (key === 'Enter') {
      event.preventDefault();
      go(found[active]);
    } else if (key === 'Escape' && isShown) {
      // The form beside the search stays open.
      event.stopPropagation();
      event.preventDefault();
      setOpen(false);
    }
  }
  return (
    <div className="map-search">
      <div className="search card">
        <Icon name="search" />
        <input
          className="input"
          type="search"
          role="combobox"
          aria-label="Search by description, tag, external id or address"
          aria-expanded={isShown}
          aria-controls={`${id}-list`}
          aria-activedescendant={isShown && found.length > 0 ? `${id}-${active}` : undefined}
          aria-autocomplete="list"
          autoComplete="off"
          placeholder="Search places, tags and addresses"
          value={text}
          onFocus={() => setOpen(true)}
          onBlur={() => setOpen(false)}
          onChange={({ target }) => {
            setText(target.value);
            setOpen(true);
          }}
          onKeyDown={onKey}
        />
      </div>
      <div className={isShown ? 'card map-results' : 'visually-hidden'}>
        <p className="quiet small" role="status">
          {isShown && (records.length === maxFound ? `The first ${maxFound}` : `${found.length} found`)}
          {isShown && !places.isComplete && places.error === null && ', while others are loaded'}
          {isShown && addresses.hasFailed && '. Addresses could not be searched'}
        </p>
        <div id={`${id}-list`} role="listbox" aria-label="Results">
          {isShown &&
            found.map((each, index) => (
              // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field
              // biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys
              <div
                key={each.type === 'place' ? each.place.id : `${each.label} ${each.position}`}
                id={`${id}-${index}`}
                role="option"
                aria-selected={index === active}
                className="map-result"
                // The field keeps the focus.
                onMouseDown={(event) => event.preventDefault()}
                onClick={() => go(each)}
              >
                <Result found={each} />
              </div>
            ))}
        </div>
      </div>
    </div>
  );
}

function Result({ found }: { readonly found: Found }) {
  if (found.type === 'address') {
    return (
      <>
        <Icon name="place" />
        <span className="grow truncate left" dir="auto">
          {found.label}
        </span>
        <span className="quiet small">Address</span>
      </>
    );
  }
  const { kind, description, tag, externalId, enabled } = found.place;
  return (
    <>
      <Icon name={kind === 'beacon' ? 'beacon' : 'fence'} />
      <span className="grow truncate left" dir="auto">
        {description}
      </span>
      {!enabled && <Badge>Disabled</Badge>}
      <span className="quiet small truncate">
        {tag} {externalId}
      </span>
    </>
  );
}
