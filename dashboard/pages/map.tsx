/** All geofences and beacons on a map, with a search that also works without one. */
import { useEffect, useMemo, useRef, useState } from 'react';
import { Link } from 'wouter';
import { maxPlaces, useAllPlaces } from '../client/all-places';
import type { Beacon, Geofence } from '../client/types';
import { Badge, Button, Notice } from '../components/controls';
import { Icon } from '../components/icons';
import { useSettled } from '../components/list-filters';
import { createMapView, type MapView, type Place } from '../components/map-view';
import { messageOf } from '../components/toasts';
import { useTheme } from '../state/theme';

const maxFound = 50;

type Found = { readonly place: Place; readonly record: Geofence | Beacon };

/** Tests whether each word of the search is in one of the record's names. */
function matches(record: Geofence | Beacon, words: readonly string[]): boolean {
  const address = 'address' in record ? record.address : undefined;
  const text = [record.description, record.tag, record.externalId, address].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

function search(text: string, geofences: readonly Geofence[], beacons: readonly Beacon[]): readonly Found[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found: Found[] = [];
  if (words.length === 0) return found;
  for (const [kind, records] of [
    ['geofence', geofences],
    ['beacon', beacons],
  ] as const) {
    for (const record of records) {
      if (found.length === maxFound) return found;
      if (matches(record, words)) found.push({ place: { kind, id: record._id }, record });
    }
  }
  return found;
}

const positionOf = (record: Geofence | Beacon): readonly [number, number] | undefined =>
  'geometryCenter' in record ? record.geometryCenter.coordinates : record.geometry?.coordinates;

export default function MapPage() {
  const theme = useTheme();
  const { geofences, beacons, isComplete, error } = useAllPlaces();
  const container = useRef<HTMLDivElement>(null);
  const view = useRef<MapView>(null);
  const [problem, setProblem] = useState<string>();
  const [chosen, setChosen] = useState<Place>();
  const [text, setText] = useState('');
  const settled = useSettled(text, 150);
  const found = useMemo(() => search(settled, geofences, beacons), [settled, geofences, beacons]);
  const hasFitted = useRef(false);

  useEffect(() => {
    document.title = 'Map · Fenceline';
  }, []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a change of the theme goes to the map that is there
  useEffect(() => {
    try {
      view.current = createMapView({ container: container.current!, theme, onChoose: setChosen });
    } catch {
      setProblem('This browser can not draw the map: it has no WebGL. The search and the lists work without it.');
    }
    return () => {
      view.current?.remove();
      view.current = null;
    };
  }, []);
  useEffect(() => view.current?.setTheme(theme), [theme]);
  useEffect(() => {
    view.current?.setPlaces(geofences, beacons);
    if (geofences.length === 0 && !isComplete) hasFitted.current = false;
    if (hasFitted.current || geofences.length + beacons.length === 0) return;
    hasFitted.current = true;
    view.current?.showAll();
  }, [geofences, beacons, isComplete]);
  useEffect(() => view.current?.choose(chosen), [chosen]);

  const record = chosen && (chosen.kind === 'geofence' ? geofences : beacons).find(({ _id }) => _id === chosen.id);
  function goTo({ place, record }: Found) {
    const position = positionOf(record);
    setChosen(place);
    if (position) view.current?.flyTo(position[0], position[1], 15);
  }
  return (
    <div className="map-page">
      <h1 className="visually-hidden">Map</h1>
      <div className="map-canvas" ref={container} />
      <div className="map-panel">
        <div className="search card">
          <Icon name="search" />
          <input
            className="input"
            type="search"
            aria-label="Search by description, tag, external id or address"
            placeholder="Description, tag, external id, address"
            value={text}
            onChange={({ target }) => setText(target.value)}
            onKeyDown={({ key }) => key === 'Enter' && found[0] && goTo(found[0])}
          />
        </div>
        {problem !== undefined && <Notice tone="warning">{problem}</Notice>}
        {error !== null && <Notice tone="danger">{messageOf(error)}</Notice>}
        {settled !== '' && (
          <div className="card map-results">
            <p className="quiet small" role="status">
              {found.length === maxFound ? `The first ${maxFound}` : `${found.length} found`}
            </p>
            <ul>
              {found.map((each) => (
                <li key={each.place.id}>
                  <button
                    type="button"
                    className="map-result"
                    aria-current={chosen?.id === each.place.id || undefined}
                    onClick={() => goTo(each)}
                  >
                    <Icon name={each.place.kind === 'beacon' ? 'beacon' : 'fence'} />
                    <span className="grow truncate">{each.record.description}</span>
                    <span className="quiet small truncate">
                      {each.record.tag} {each.record.externalId}
                    </span>
                  </button>
                </li>
              ))}
            </ul>
          </div>
        )}
        {chosen && record && (
          <section className="card card-body stack-tight" aria-label="Chosen place">
            <div className="spread">
              <h2 className="truncate">{record.description}</h2>
              <Button isCompact look="plain" icon="close" aria-label="Close" onClick={() => setChosen(undefined)} />
            </div>
            <dl className="facts">
              <dt>Tag</dt>
              <dd>{record.tag}</dd>
              <dt>External id</dt>
              <dd>
                <code>{record.externalId}</code>
              </dd>
              {'address' in record && record.address && (
                <>
                  <dt>Address</dt>
                  <dd>{record.address}</dd>
                </>
              )}
            </dl>
            <div className="spread">
              {record.enabled === false ? <Badge>Disabled</Badge> : <Badge tone="success">Enabled</Badge>}
              <Link className="button" href={`/${chosen.kind}s/${chosen.id}`}>
                Open
              </Link>
            </div>
          </section>
        )}
      </div>
      <p className="map-count" role="status">
        {!isComplete && error === null && <span className="spinner" />}
        {geofences.length.toLocaleString('en')} geofences, {beacons.length.toLocaleString('en')} beacons
        {(geofences.length >= maxPlaces || beacons.length >= maxPlaces) && '; the rest is left out'}
      </p>
    </div>
  );
}
