/** Creates the labels of the states of four large countries. Natural Earth's package has their middles. Pure. */
import type { Feature, Point } from 'geojson';
import type { RegionNames, StateProperties, Waters } from './packages.js';

/** Capital districts, and Jervis Bay: smaller than their names. */
const unnamed = ['USA DC', 'AUS CT', 'AUS JB', 'BRA DF'];

/** Returns the labels at the middles of the states. */
export function stateLabels({ objects: { subunits } }: Waters, names: RegionNames['states']): Feature<Point>[] {
  return subunits.geometries.flatMap(({ id, properties }): Feature<Point>[] => {
    const { gu: country, ct: middle } = properties as StateProperties;
    const key = `${country} ${id}`;
    const named = unnamed.includes(key) ? undefined : names.get(key);
    if (!named) return [];
    return [
      {
        type: 'Feature',
        geometry: { type: 'Point', coordinates: [...middle] },
        properties: { name: named.name, ...Object.fromEntries(named.translated) },
      },
    ];
  });
}
