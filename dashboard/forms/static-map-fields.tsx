/** The fields of the composer of static maps. Each shows what the server says about its parameter. */
import type { ReactNode } from 'react';
import { useApi } from '../client/hooks';
import { Button, Segments, SelectField, TextArea, TextField } from '../components/controls';
import type { Problem } from '../components/problem';
import { problemAt } from './draft';
import { Section } from './parts';
import { exampleLocations, type MapDraft, newMarkers, newPath } from './static-map';

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
        <TextField label="Language" placeholder="en, it, ja …, local or native" {...text('language')} />
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

interface OverlaysProps<Item> {
  readonly title: string;
  readonly noun: string;
  readonly items: readonly Item[];
  readonly locations: { readonly label: string; readonly hint: string; readonly problem: Problem | undefined };
  create(): Item;
  onChange(items: readonly Item[]): void;
  /** The further fields of an item. */
  children(item: Item, set: (part: Partial<Item>) => void): ReactNode;
}

/** Groups of markers, or paths: each has locations and a few fields. */
function Overlays<Item extends { readonly id: number; readonly locations: string }>(props: OverlaysProps<Item>) {
  const { title, noun, items, locations, create, onChange, children } = props;
  return (
    <Section title={title}>
      {items.map((item, index) => {
        const set = (part: Partial<Item>) =>
          onChange(items.map((each) => (each.id === item.id ? { ...each, ...part } : each)));
        const remove = `Remove ${noun} ${index + 1}`;
        return (
          <fieldset key={item.id} className="overlay">
            <legend className="visually-hidden">
              {noun} {index + 1}
            </legend>
            <TextArea
              label={locations.label}
              isCode
              rows={2}
              hint={locations.hint}
              problem={index === items.length - 1 ? locations.problem : undefined}
              value={item.locations}
              onChange={(text) => set({ locations: text } as Partial<Item>)}
            />
            <div className="overlay-options">
              {children(item, set)}
              <Button
                look="plain"
                icon="trash"
                className="remove"
                aria-label={remove}
                title={remove}
                onClick={() => onChange(items.filter(({ id }) => id !== item.id))}
              />
            </div>
          </fieldset>
        );
      })}
      <div>
        <Button icon="plus" disabled={items.length >= maxOverlays} onClick={() => onChange([...items, create()])}>
          Add {noun}
        </Button>
      </div>
    </Section>
  );
}

export function MarkerFields({ draft: { markers }, error, change }: FieldsProps) {
  const uploaded = useApi('GET /v1/map-markers', { query: { limit: 1_000 } });
  const problem = problemAt(error, 'markers');
  return (
    <>
      <datalist id="map-markers">
        {uploaded.data?.mapMarkers.map(({ _id, name }) => (
          <option key={_id} value={_id}>
            {name}
          </option>
        ))}
      </datalist>
      <Overlays
        title="Markers"
        noun="markers"
        items={markers}
        locations={{ label: 'Locations', hint: 'latitude,longitude, one per line', problem }}
        create={newMarkers}
        onChange={(next) => change({ markers: next })}
      >
        {({ color, size, icon }, set) => (
          <>
            <ColorField label="Colour" value={color} onChange={(next) => set({ color: next })} />
            <SelectField label="Size" value={size} options={sizes} onChange={(next) => set({ size: next })} />
            <TextField
              label="Icon"
              placeholder="a pin, or a URL"
              list="map-markers"
              value={icon}
              onChange={(next) => set({ icon: next })}
            />
          </>
        )}
      </Overlays>
    </>
  );
}

const courseHint = 'latitude,longitude, one per line; enc: and a polyline; or a GeoJSON LineString';
const pixels = { unit: 'px', inputMode: 'decimal' } as const;

export const PathFields = ({ draft: { paths }, error, change }: FieldsProps) => (
  <Overlays
    title="Paths"
    noun="path"
    items={paths}
    locations={{ label: 'Course', hint: courseHint, problem: problemAt(error, 'path') }}
    create={() => newPath(exampleLocations)}
    onChange={(next) => change({ paths: next })}
  >
    {({ stroke, width, border, borderWidth }, set) => (
      <>
        <ColorField label="Stroke" value={stroke} onChange={(next) => set({ stroke: next })} />
        <TextField label="Width" {...pixels} value={width} onChange={(next) => set({ width: next })} />
        <ColorField label="Border" value={border} onChange={(next) => set({ border: next })} />
        <TextField
          label="Border width"
          {...pixels}
          value={borderWidth}
          onChange={(next) => set({ borderWidth: next })}
        />
      </>
    )}
  </Overlays>
);

interface ColorProps {
  readonly label: string;
  readonly value: string;
  onChange(value: string): void;
}

const ColorField = ({ label, value, onChange }: ColorProps) => (
  <TextField label={label} type="color" className="color" value={value} onChange={onChange} />
);
