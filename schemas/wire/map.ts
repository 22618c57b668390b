/** Converts uploaded styles and markers to the API's JSON. */
import type { MapMarker, MapMarkerRecord, MapStyle, MapStyleRecord } from '../json/map.js';
import { isoTime, withoutUnset } from './common.js';

/** A style record without its content, for lists. */
export interface MapStyleHead extends Omit<MapStyleRecord, 'style'> {
  /** Size of the style as compact JSON. */
  readonly bytes: number;
}

/** A marker record without its image. */
export interface MapMarkerHead extends Omit<MapMarkerRecord, 'image'> {
  /** Size of the image. */
  readonly bytes: number;
}

/** Returns the style as lists answer it: its size in bytes, without its content. */
export const mapStyleJson = (head: MapStyleHead): MapStyle => ({
  _id: head._id,
  live: head.environment === 'live',
  createdAt: isoTime(head.createdAt),
  updatedAt: isoTime(head.updatedAt),
  ...withoutUnset({ name: head.name }),
  bytes: head.bytes,
});

/** Returns the marker as lists answer it: its size in bytes and its type, without its image. */
export const mapMarkerJson = (head: MapMarkerHead): MapMarker => ({ ...mapStyleJson(head), type: head.type });
