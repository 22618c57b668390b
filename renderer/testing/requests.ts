/** A request of a map of 100 by 100 pixels for tests. */
import type { MapRequest } from '../types.js';

/** Returns the request with these fields, without markers, paths and fences by default. */
export const exampleRequest = (fields: Partial<MapRequest> = {}): MapRequest => ({
  width: 100,
  height: 100,
  scale: 1,
  style: 'streets',
  language: 'en',
  format: 'png',
  markers: [],
  paths: [],
  fences: [],
  camera: { center: [0, 0], zoom: 1, bbox: null },
  ...fields,
});
