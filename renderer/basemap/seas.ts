/**
 * Creates the labels of oceans, seas, gulfs and large lakes. Natural Earth's packages have neither names nor areas of
 * seas; the names come from its tables. Pure.
 */
import type { Feature, Point } from 'geojson';
import type { RegionNames } from './packages.js';

type Place = readonly [longitude: number, latitude: number, minZoom: number];
/** A name and label points with their first zooms. An ocean has several, because it is wider than most maps. */
type Water = readonly [name: string, ...places: Place[]];

const oceans: readonly Water[] = [
  [
    'Pacific Ocean',
    [-150, 5, 1],
    [-150, 33, 4],
    [-115, -20, 4],
    [168, 28, 4],
    [-168, -32, 4],
    [-105, -42, 4],
    [-172, -8, 4],
    [-100, 8, 4],
  ],
  ['Atlantic Ocean', [-38, 26, 1], [-40, 44, 4], [-28, 3, 4], [-15, -25, 4], [-62, 30, 4], [-18, 48, 4], [-35, -42, 4]],
  ['Indian Ocean', [78, -22, 1], [72, -4, 4], [98, -12, 4], [62, -38, 4], [102, -38, 4]],
  ['Arctic Ocean', [-150, 79, 2], [10, 83, 3], [140, 81, 3]],
  ['Southern Ocean', [25, -61, 2], [-120, -64, 3], [115, -61, 3]],
];

const seas: readonly Water[] = [
  ['Mediterranean Sea', [18, 34.9, 3], [4.6, 39.3, 4], [31, 33.4, 4]],
  ['Black Sea', [34.5, 43.2, 3]],
  ['Caspian Sea', [50.8, 41.6, 3]],
  ['Red Sea', [38.2, 20.2, 3]],
  ['Arabian Sea', [63.5, 14.5, 3]],
  ['Bay of Bengal', [88, 14, 3]],
  ['Persian Gulf', [51.4, 27.3, 5]],
  ['Gulf of Oman', [58.6, 24.8, 5]],
  ['Gulf of Aden', [47.8, 12.2, 5]],
  ['Andaman Sea', [96, 11, 5]],
  ['Gulf of Thailand', [101.3, 10.3, 5]],
  ['South China Sea', [113.8, 14.5, 3]],
  ['East China Sea', [125.3, 29, 3]],
  ['Yellow Sea', [123, 36, 4]],
  ['Sea of Japan', [135, 40.5, 3]],
  ['Sea of Okhotsk', [149.5, 53.5, 3]],
  ['Bering Sea', [-178, 57.5, 3]],
  ['Philippine Sea', [133, 18, 3]],
  ['Sulu Sea', [119.9, 8.4, 5]],
  ['Celebes Sea', [122, 3.6, 5]],
  ['Java Sea', [111, -5, 5]],
  ['Banda Sea', [126.5, -5.6, 5]],
  ['Arafura Sea', [135.5, -9.4, 5]],
  ['Gulf of Carpentaria', [139.2, -13.8, 5]],
  ['Great Australian Bight', [130.5, -34, 3]],
  ['Coral Sea', [154.5, -17, 3]],
  ['Tasman Sea', [160, -38, 3]],
  ['Gulf of Alaska', [-145.5, 57, 4]],
  ['Gulf of California', [-111.2, 26.8, 5]],
  ['Gulf of Mexico', [-91, 25.2, 3]],
  ['Caribbean Sea', [-75.5, 15, 3]],
  ['Hudson Bay', [-85.5, 59.5, 3]],
  ['Labrador Sea', [-53, 57.8, 4]],
  ['Baffin Bay', [-67, 73.8, 4]],
  ['Greenland Sea', [-6, 76.5, 4]],
  ['Norwegian Sea', [3, 67.8, 3]],
  ['North Sea', [3.4, 56.1, 3]],
  ['Baltic Sea', [19.7, 56.3, 3]],
  ['Gulf of Bothnia', [19.8, 61.8, 5]],
  ['Celtic Sea', [-8, 50.4, 5]],
  ['Irish Sea', [-5, 53.9, 6]],
  ['English Channel', [-2.2, 50.1, 6]],
  ['Bay of Biscay', [-5, 45.4, 3]],
  ['Tyrrhenian Sea', [12, 39.9, 4]],
  ['Adriatic Sea', [15.6, 43, 4]],
  ['Ionian Sea', [19, 37.6, 4]],
  ['Aegean Sea', [25, 38.6, 4]],
  ['Barents Sea', [40, 74, 3]],
  ['Kara Sea', [70, 75.5, 4]],
  ['Laptev Sea', [125, 75.8, 4]],
  ['East Siberian Sea', [162, 72.8, 4]],
  ['Chukchi Sea', [-171, 69.7, 4]],
  ['Beaufort Sea', [-139, 72.3, 4]],
  ['Gulf of Guinea', [2.5, 2.2, 4]],
  ['Mozambique Channel', [41.2, -18.3, 4]],
  ['Weddell Sea', [-45, -72, 3]],
  ['Ross Sea', [-170, -75.3, 3]],
];

const lakes: readonly Water[] = [
  ['Lake Superior', [-87.6, 47.7, 4]],
  ['Lake Michigan', [-87, 43.7, 4]],
  ['Lake Huron', [-82.3, 44.8, 4]],
  ['Lake Erie', [-81.2, 42.2, 6]],
  ['Lake Ontario', [-77.8, 43.65, 6]],
  ['Great Bear Lake', [-120.8, 66, 5]],
  ['Great Slave Lake', [-114.3, 61.6, 5]],
  ['Lake Winnipeg', [-98.1, 53.2, 6]],
  ['Lake Titicaca', [-69.4, -15.8, 6]],
  ['Lake Victoria', [33, -1.1, 4]],
  ['Lake Malawi', [34.5, -11.9, 6]],
  ['Lake Baikal', [108, 53.6, 5]],
  ['Lake Ladoga', [31.5, 60.8, 6]],
];

const waters = { ocean: oceans, sea: seas, lake: lakes };

/**
 * Returns the labels, the most important first. `class` is ocean, sea or lake, `min_zoom` the first zoom, `name:xx` the
 * name in a language. Other languages have the English name, as there is no local one.
 */
export function seaLabels(names: RegionNames['waters']): Feature<Point>[] {
  return Object.entries(waters).flatMap(([kind, all]) =>
    all.flatMap(([name, ...places]) => {
      const translated = Object.fromEntries(names.get(name) ?? []);
      return places.map(([longitude, latitude, minZoom]) => ({
        type: 'Feature' as const,
        geometry: { type: 'Point' as const, coordinates: [longitude, latitude] },
        properties: { name, ...translated, class: kind, min_zoom: minZoom },
      }));
    }),
  );
}
