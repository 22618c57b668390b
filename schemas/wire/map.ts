/** Uploaded styles and markers: from what is kept of them to what the API answers. */
import type { MapMarker, MapMarkerRecord, MapStyle, MapStyleRecord } from '../json/map.js';
import { isoTime, withoutUnset } from './common.js';

/** A style without itself: what lists need. */
export interface MapStyleHead extends Omit<MapStyleRecord, 'style'> {
  /** Of the style as compact JSON. */
  readonly bytes: number;
}

/** A marker without its image. */
export interface MapMarkerHead extends Omit<MapMarkerRecord, 'image'> {
  /** Of the image. */
  readonly bytes: number;
}

export const mapStyleJson = (head: MapStyleHead): MapStyle => ({
  _id: head._id,
  live: head.environment === 'live',
  createdAt: isoTime(head.createdAt),
  updatedAt: isoTime(head.updatedAt),
  ...withoutUnset({ name: head.name }),
  bytes: head.bytes,
});

export const mapMarkerJson = (head: MapMarkerHead): MapMarker => ({ ...mapStyleJson(head), type: head.type });
