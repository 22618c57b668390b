/** The schema of our basemap (see `basemap/`): a world map without streets. */
import { expression } from '../expressions.js';
import type { Schema } from '../schema.js';

/** Where the features of the built-in basemap come from. */
export const fencelineSchema: Schema = {
  background: 'water',
  land: { sourceLayer: 'land' },
  areas: [{ sourceLayer: 'land', tag: expression('get', 'kind'), values: { ice: ['ice'] } }],
  water: [{ sourceLayer: 'lakes' }],
  waterways: { sourceLayer: 'rivers', tag: expression('literal', 'river'), values: { river: ['river'] } },
  piers: [],
  aeroways: null,
  buildings: null,
  roads: null,
  rails: null,
  ferries: null,
  borders: { country: { sourceLayer: 'borders' }, state: { sourceLayer: 'states' } },
  labels: {
    // For languages that the basemap lacks, English is better than the local language.
    name: expression('coalesce', ['get', 'name:en'], ['get', 'name']),
    places: [
      {
        sourceLayer: 'country_labels',
        tag: expression('get', 'class'),
        values: { country: ['country'], microstate: ['microstate'] },
        rank: expression('get', 'rank'),
        order: expression('get', 'order'),
        minZoom: expression('get', 'min_zoom'),
        isCapital: expression('literal', false),
      },
      {
        sourceLayer: 'state_labels',
        tag: expression('literal', 'state'),
        values: { state: ['state'] },
        rank: expression('literal', 1),
        isCapital: expression('literal', false),
      },
      {
        sourceLayer: 'places',
        tag: expression('get', 'class'),
        values: { city: ['city'], town: ['town'], village: ['village'], suburb: ['suburb'] },
        rank: expression('get', 'rank'),
        order: expression('get', 'order'),
        minZoom: expression('get', 'min_zoom'),
        isCapital: expression('has', 'capital'),
      },
    ],
    roads: null,
    water: [
      {
        sourceLayer: 'sea_labels',
        filter: expression('<=', ['get', 'min_zoom'], ['zoom']),
        order: expression('get', 'min_zoom'),
      },
    ],
    waterways: null,
    pois: [],
    houseNumbers: null,
  },
};
