/** The fields of the composer of static maps. Each shows what the server says about its parameter. */
import { useApi } from '../client/hooks';
import { Button, Segments, SelectField, TextArea, TextField } from '../components/controls';
import { problemAt } from './draft';
import { Section } from './parts';
import { exampleLocations, type MapDraft, type MarkersDraft, newMarkers, newPath, type PathDraft } from './static-map';

export const builtInStyles = [
  { value: 'svc-default-v1', label: 'Streets' },
  { value: 'svc-light-v1', label: 'Light' },
  { value: 'svc-dark-v1', label: 'Dark' },
];
const formats = [
  { value: '', label: 'Automatic' },
  { value: 'png', label: 'PNG' },
  { value: 'webp', label: 'WebP' },
  { value: 'jpg', label: 'JPEG' },
] as const;
const views = [
  { value: 'fit', label: 'Fit' },
  { value: 'center', label: 'Centre' },
  { value: 'bbox', label: 'Box' },
] as const;
const sizes = [
  { value: 'normal', label: 'Normal' },
  { value: 'small', label: 'Small' },
] as const;

const maxOverlays = 100;

interface FieldsProps {
  readonly draft: MapDraft;
  readonly error: unknown;
  change(part: Partial<MapDraft>): void;
}

export function ViewFields({ draft, error, change }: FieldsProps) {
  const uploaded = useApi('GET /v1/map-styles', { query: { limit: 1_000 } });
  const styles = [
    ...builtInStyles,
    ...(uploaded.data?.mapStyles.map(({ _id, name }) => ({ value: _id, label: name ?? _id })) ?? []),
  ];
  const text = (name: 'width' | 'height' | 'scale' | 'center' | 'zoom' | 'bbox' | 'language' | 'geofences') => ({
    value: draft[name],
    problem: problemAt(error, name),
    onChange: (value: string) => change({ [name]: value }),
  });
  return (
    <Section title="Map">
      <div className="form-grid">
        <SelectField
          label="Style"
          value={draft.style}
          options={styles}
          problem={problemAt(error, 'style')}
          onChange={(style) => change({ style })}
        />
        <TextField label="Language" placeholder="en, it, ja … or local" {...text('language')} />
        <TextField label="Width" unit="px" inputMode="numeric" {...text('width')} />
        <TextField label="Height" unit="px" inputMode="numeric" {...text('height')} />
        <TextField label="Scale" inputMode="decimal" hint="Image pixels per pixel, 1 to 3" {...text('scale')} />
        <SelectField
          label="Format"
          value={draft.format}
          options={formats}
          problem={problemAt(error, 'format')}
          onChange={(format) => change({ format })}
        />
      </div>
      <Segments legend="View" value={draft.view} options={views} onChange={(view) => change({ view })} />
      {draft.view === 'center' && (
        <div className="form-grid">
          <TextField label="Centre" isCode placeholder="latitude,longitude" {...text('center')} />
          <TextField label="Zoom" inputMode="decimal" {...text('zoom')} />
        </div>
      )}
      {draft.view === 'bbox' && (
        <TextField
          label="Box"
          isCode
          placeholder="min_latitude,min_longitude,max_latitude,max_longitude"
          {...text('bbox')}
        />
      )}
      {draft.view === 'fit' && (problemAt(error, 'center') ?? problemAt(error, 'zoom')) && (
        <p className="quiet">Nothing is drawn yet: add a marker, a path or geofences, or choose a centre.</p>
      )}
      <TextField
        label="Geofences"
        placeholder="A tag"
        hint="Draws the enabled geofences of a tag. Needs a secret key, so only servers can ask for it."
        {...text('geofences')}
      />
    </Section>
  );
}

/** Returns a copy in which the item is replaced, or removed. */
const withItem = <Item extends { readonly id: number }>(items: readonly Item[], id: number, next: Item | undefined) =>
  items.flatMap((item) => (item.id !== id ? [item] : next === undefined ? [] : [next]));

export function MarkerFields({ draft: { markers }, error, change }: FieldsProps) {
  const uploaded = useApi('GET /v1/map-markers', { query: { limit: 1_000 } });
  const problem = problemAt(error, 'markers');
  const set = (group: MarkersDraft, part: Partial<MarkersDraft>) =>
    change({ markers: withItem(markers, group.id, { ...group, ...part }) });
  return (
    <Section title="Markers">
      {markers.map((group, index) => (
        <fieldset key={group.id} className="overlay">
          <legend className="visually-hidden">Markers {index + 1}</legend>
          <TextArea
            label="Locations"
            isCode
            rows={2}
            hint="latitude,longitude, one per line"
            problem={index === markers.length - 1 ? problem : undefined}
            value={group.locations}
            onChange={(locations) => set(group, { locations })}
          />
          <div className="overlay-options">
            <ColorField label="Colour" value={group.color} onChange={(color) => set(group, { color })} />
            <SelectField label="Size" value={group.size} options={sizes} onChange={(size) => set(group, { size })} />
            <TextField
              label="Icon"
              placeholder="a pin, or a URL"
              list="map-markers"
              value={group.icon}
              onChange={(icon) => set(group, { icon })}
            />
            <RemoveButton
              label={`Remove markers ${index + 1}`}
              onClick={() => change({ markers: withItem(markers, group.id, undefined) })}
            />
          </div>
        </fieldset>
      ))}
      <datalist id="map-markers">
        {uploaded.data?.mapMarkers.map(({ _id, name }) => (
          <option key={_id} value={_id}>
            {name}
          </option>
        ))}
      </datalist>
      <div>
        <Button
          icon="plus"
          disabled={markers.length >= maxOverlays}
          onClick={() => change({ markers: [...markers, newMarkers()] })}
        >
          Add markers
        </Button>
      </div>
    </Section>
  );
}

export function PathFields({ draft: { paths }, error, change }: FieldsProps) {
  const problem = problemAt(error, 'path');
  const set = (path: PathDraft, part: Partial<PathDraft>) =>
    change({ paths: withItem(paths, path.id, { ...path, ...part }) });
  return (
    <Section title="Paths">
      {paths.map((path, index) => (
        <fieldset key={path.id} className="overlay">
          <legend className="visually-hidden">Path {index + 1}</legend>
          <TextArea
            label="Course"
            isCode
            rows={2}
            hint="latitude,longitude, one per line; enc: and a polyline; or a GeoJSON LineString"
            problem={index === paths.length - 1 ? problem : undefined}
            value={path.locations}
            onChange={(locations) => set(path, { locations })}
          />
          <div className="overlay-options">
            <ColorField label="Stroke" value={path.stroke} onChange={(stroke) => set(path, { stroke })} />
            <TextField
              label="Width"
              unit="px"
              inputMode="decimal"
              value={path.width}
              onChange={(width) => set(path, { width })}
            />
            <ColorField label="Border" value={path.border} onChange={(border) => set(path, { border })} />
            <TextField
              label="Border width"
              unit="px"
              inputMode="decimal"
              value={path.borderWidth}
              onChange={(borderWidth) => set(path, { borderWidth })}
            />
            <RemoveButton
              label={`Remove path ${index + 1}`}
              onClick={() => change({ paths: withItem(paths, path.id, undefined) })}
            />
          </div>
        </fieldset>
      ))}
      <div>
        <Button
          icon="plus"
          disabled={paths.length >= maxOverlays}
          onClick={() => change({ paths: [...paths, newPath(exampleLocations)] })}
        >
          Add a path
        </Button>
      </div>
    </Section>
  );
}

interface ColorProps {
  readonly label: string;
  readonly value: string;
  onChange(value: string): void;
}

const ColorField = ({ label, value, onChange }: ColorProps) => (
  <TextField label={label} type="color" className="color" value={value} onChange={onChange} />
);

const RemoveButton = ({ label, onClick }: { readonly label: string; onClick(): void }) => (
  <Button look="plain" icon="trash" className="remove" aria-label={label} title={label} onClick={onClick} />
);
