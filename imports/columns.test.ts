import { describe, expect, it } from 'vitest';
import { beaconFields } from '../api/beacons/fields.js';
import { geofenceFields } from '../api/geofences/fields.js';
import { columnsOf, readHeader, rejectionColumns } from './columns.js';

const needed = ['description', 'type', 'tag', 'externalId', 'coordinates'];
const geofence = (...more: string[]) => readHeader(geofenceFields, [...needed, ...more], 1);

describe('a header', () => {
  it('may have every column of the resource', () => {
    for (const table of [geofenceFields, beaconFields])
      expect(readHeader(table, columnsOf(table), 1)).toEqual(new Set());
  });

  it('may have a column per key of metadata and per day', () => {
    expect(geofence('metadata.a', 'metadata.b', 'operatingHours.mon', 'operatingHours.Tuesday')).toEqual(new Set());
  });

  // Only the filled keys of a row count as its metadata, so shops and depots of one file may have different ones.
  it('may have a column for more keys than one record may have', () => {
    const keys = Array.from({ length: 40 }, (_, index) => `metadata.k${index}`);
    expect(geofence(...keys)).toEqual(new Set());
    expect(() => geofence(...keys, `metadata.${'k'.repeat(257)}`)).toThrow(
      'metadata: keys must have 1 to 256 characters',
    );
  });

  it('names each day once, among many columns of days too', () => {
    const days = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
    const names = [...days, ...days.map((day) => day.toUpperCase()), ...days.map((day) => day.toLowerCase())];
    expect(() => geofence(...names.map((day) => `operatingHours.${day}`))).toThrow(
      'operatingHours: must name each day once, but has Mon twice',
    );
  });

  it('may have the columns of a file of bad rows, which are ignored', () => {
    expect(geofence(...rejectionColumns)).toEqual(new Set([5, 6, 7]));
  });

  it.each([
    ['raduis', 'raduis: is not a known column; did you mean radius?'],
    ['radius.m', 'radius.m: is not a known column'],
    ['', 'header: column 6 has no name'],
    ['type', 'type: is the name of two columns'],
    ['operatingHours.someday', 'operatingHours: must have day names as keys, not "someday"'],
  ])('with column %j is refused', (name, message) => {
    expect(() => geofence(name)).toThrow(`line 1: ${message}`);
  });

  it.each([
    [['metadata', 'metadata.city'], "metadata: can't be combined with metadata.city"],
    [['operatingHours.mon', 'operatingHours'], "operatingHours: can't be combined with operatingHours.mon"],
    [['operatingHours.mon', 'operatingHours.Monday'], 'operatingHours: must name each day once, but has Mon twice'],
  ])('with columns %j is refused', (names, message) => {
    expect(() => geofence(...names)).toThrow(`line 1: ${message}`);
  });

  it('without a required column is refused', () => {
    expect(() => readHeader(geofenceFields, ['description', 'type', 'tag'], 3)).toThrow(
      'line 3: externalId: is required, but the header has no such column',
    );
  });

  it('that is separated by semicolons is refused with this reason', () => {
    expect(() => readHeader(geofenceFields, [needed.join(';')], 1)).toThrow(
      'line 1: file: separates its columns by semicolons; they must be separated by commas',
    );
  });
});
