/** What the map shows: kinds, states, tags and the style; at the same time its legend. */
import { useEffect, useRef, useState } from 'react';
import { Button, Check, SelectField } from '../components/controls';
import { grouped } from '../components/counts';
import { palettes, type StyleChoice, type Theme } from '../components/map-look';
import { colourNumber, type Layers, otherTags, type TagCount } from './places';

const styles = [
  { value: 'theme', label: 'As the page' },
  { value: 'svc-default-v1', label: 'Streets' },
  { value: 'svc-light-v1', label: 'Light' },
  { value: 'svc-dark-v1', label: 'Dark' },
] as const satisfies readonly { value: StyleChoice; label: string }[];

interface Props {
  readonly layers: Layers;
  readonly tags: readonly TagCount[];
  readonly shade: Theme;
  readonly style: StyleChoice;
  readonly counts: { readonly geofences: number; readonly beacons: number };
  onLayers(layers: Layers): void;
  onStyle(style: StyleChoice): void;
}

/** The colour is set by code: the security policy forbids styles in the document. */
function Swatch({ colour, shape }: { readonly colour: string; readonly shape: 'fence' | 'beacon' | 'disabled' }) {
  const element = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    if (element.current) element.current.style.color = colour;
  }, [colour]);
  return <span ref={element} className={`swatch ${shape}`} />;
}

export function LayerMenu({ layers, tags, shade, style, counts, onLayers, onStyle }: Props) {
  const [isOpen, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = ({ target }: Event) => element.current?.contains(target as Node) || setOpen(false);
    const types = ['pointerdown', 'focusin'] as const;
    for (const type of types) addEventListener(type, close);
    return () => {
      for (const type of types) removeEventListener(type, close);
    };
  }, [isOpen]);
  const set = (part: Partial<Layers>) => onLayers({ ...layers, ...part });
  const kinds = palettes.kind[shade];
  const byTag = layers.colourBy === 'tag';
  const row = (swatch: React.ReactNode, label: string, number?: number) => (
    <span className="legend-row">
      {swatch}
      <span className="grow truncate left" dir="auto">
        {label}
      </span>
      {number !== undefined && <span className="quiet small">{grouped(number)}</span>}
    </span>
  );
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what its controls have opened
    <div
      className="layer-menu"
      ref={element}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !isOpen) return;
        event.stopPropagation();
        setOpen(false);
        // What has the focus goes away with the list.
        element.current?.querySelector('button')?.focus();
      }}
    >
      <Button
        icon="layers"
        aria-label="Layers and legend"
        aria-expanded={isOpen}
        title="Layers and legend"
        onClick={() => setOpen((now) => !now)}
      />
      {isOpen && (
        <section className="card layer-list" aria-label="Layers and legend">
          <fieldset className="stack-tight">
            <legend className="label">Show</legend>
            <Check
              label={row(<Swatch shape="fence" colour={kinds[0]} />, 'Geofences', counts.geofences)}
              isChecked={layers.geofences}
              onChange={(geofences) => set({ geofences })}
            />
            <Check
              label={row(<Swatch shape="beacon" colour={kinds[1]} />, 'Beacons', counts.beacons)}
              isChecked={layers.beacons}
              onChange={(beacons) => set({ beacons })}
            />
            <Check
              label={row(<Swatch shape="disabled" colour={kinds[0]} />, 'Disabled ones')}
              isChecked={layers.disabled}
              onChange={(disabled) => set({ disabled })}
            />
          </fieldset>
          <SelectField
            label="Colours"
            value={layers.colourBy}
            options={[
              { value: 'kind', label: 'By kind' },
              { value: 'tag', label: 'By tag' },
            ]}
            onChange={(colourBy) => set({ colourBy })}
          />
          {tags.length > 0 && (
            <fieldset className="stack-tight">
              <legend className="label">Tags</legend>
              {tags.map(({ tag, count: number }, index) => (
                <Check
                  key={tag}
                  label={row(
                    byTag && <Swatch shape="fence" colour={palettes.tag[shade][colourNumber(tag, index)]!} />,
                    tag === otherTags ? 'All others' : tag,
                    number,
                  )}
                  isChecked={!layers.hiddenTags.includes(tag)}
                  onChange={(isChecked) =>
                    set({
                      hiddenTags: isChecked
                        ? layers.hiddenTags.filter((each) => each !== tag)
                        : [...layers.hiddenTags, tag],
                    })
                  }
                />
              ))}
            </fieldset>
          )}
          <SelectField label="Map" value={style} options={styles} onChange={onStyle} />
        </section>
      )}
    </div>
  );
}
