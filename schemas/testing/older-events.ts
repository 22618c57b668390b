/** Events as releases wrote them whose records had no position of a beacon and no `metadataOmitted`. */
import { createCodec, firstEventType } from '../codecs.js';
import type { Event } from '../records.js';

const codec = createCodec<Event>(firstEventType, 3);

/** Encodes an event as those releases did. */
export const encodeFirstVersion = (event: Event): Buffer => codec.encode(event);

/** Returns what a record of those releases tells of the event. */
export const asFirstVersion = (event: Event): Event => ({
  ...event,
  beacon: event.beacon && { ...event.beacon, longitude: null, latitude: null },
  metadataOmitted: false,
});

const common = {
  project: 'b'.repeat(24),
  environment: 'live',
  createdAt: 1_798_761_600_000,
  actualCreatedAt: 1_798_761_601_000,
  locationId: 'd'.repeat(24),
  user: { id: 'e'.repeat(24), userId: 'ann', deviceId: 'phone-1', profile: '{"metadata":{"plan":"gold"}}' },
  geofence: null,
  beacon: null,
  longitude: 11.25,
  latitude: 43.75,
  accuracy_m: 5,
  confidence: 3,
  duration_min: null,
  currentlyOperating: null,
  foreground: true,
  stopped: false,
  replayed: false,
  source: 'FOREGROUND_LOCATION',
  metadata: null,
  metadataOmitted: false,
} as const;

/** Frames that such a release wrote, with their events. */
export const recordedFrames: readonly { readonly frame: Buffer; readonly event: Event }[] = [
  {
    event: {
      ...common,
      id: 'a'.repeat(24),
      type: 'user.exited_geofence',
      duration_min: 12.5,
      currentlyOperating: true,
      geofence: {
        id: 'c'.repeat(24),
        tag: 'store',
        externalId: '1',
        description: 'Ærø 東',
        type: 'circle',
        metadata: '{"floors":3}',
        centerLongitude: 11.25,
        centerLatitude: 43.75,
        radius: 100,
      },
    },
    frame: Buffer.from(
      'AAAAAAMwYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhKHVzZXIuZXhpdGVkX2dlb2ZlbmNlMGJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYgKA' +
        '0N7o2WjQ397o2WgCMGRkZGRkZGRkZGRkZGRkZGRkZGRkZGRkZAICMGVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlZQIGYW5uAg5waG9uZS0x' +
        'Ajh7Im1ldGFkYXRhIjp7InBsYW4iOiJnb2xkIn19AjBjY2NjY2NjY2NjY2NjY2NjY2NjY2NjY2MCCnN0b3JlAgIxEsOGcsO4IOadsQxj' +
        'aXJjbGUCGHsiZmxvb3JzIjozfQAAAAAAgCZAAAAAAADgRUAAAAAAAABZQAACAAAAAACAJkACAAAAAADgRUACAAAAAAAAFEAGAgAAAAAA' +
        'AClAAgECAQIAAAImRk9SRUdST1VORF9MT0NBVElPTgA=',
      'base64',
    ),
  },
  {
    event: {
      ...common,
      id: 'f'.repeat(24),
      type: 'user.entered_beacon',
      beacon: {
        id: '1'.repeat(24),
        tag: 'door',
        externalId: null,
        description: 'Front door',
        type: 'ibeacon',
        group: 'b9407f30-f5f8-466e-aff9-25556b57fe6d',
        major: '1',
        minor: '2',
        metadata: null,
        longitude: null,
        latitude: null,
      },
    },
    frame: Buffer.from(
      'AAAAAAMwZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmZmJnVzZXIuZW50ZXJlZF9iZWFjb24wYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmJiAoDQ' +
        '3ujZaNDf3ujZaAIwZGRkZGRkZGRkZGRkZGRkZGRkZGRkZGRkAgIwZWVlZWVlZWVlZWVlZWVlZWVlZWVlZWVlAgZhbm4CDnBob25lLTEC' +
        'OHsibWV0YWRhdGEiOnsicGxhbiI6ImdvbGQifX0AAjAxMTExMTExMTExMTExMTExMTExMTExMTECCGRvb3IAFEZyb250IGRvb3IASGI5' +
        'NDA3ZjMwLWY1ZjgtNDY2ZS1hZmY5LTI1NTU2YjU3ZmU2ZAIxAjIAAgAAAAAAgCZAAgAAAAAA4EVAAgAAAAAAABRABgAAAgECAAACJkZP' +
        'UkVHUk9VTkRfTE9DQVRJT04A',
      'base64',
    ),
  },
  {
    event: {
      ...common,
      id: '2'.repeat(24),
      type: 'bought',
      locationId: null,
      user: null,
      longitude: null,
      latitude: null,
      accuracy_m: null,
      foreground: null,
      stopped: null,
      source: null,
      metadata: '{"price":3}',
    },
    frame: Buffer.from(
      'AAAAAAMwMjIyMjIyMjIyMjIyMjIyMjIyMjIyMjIyDGJvdWdodDBiYmJiYmJiYmJiYmJiYmJiYmJiYmJiYmICgNDe6Nlo0N/e6NloAAAA' +
        'AAAAAAYAAAAAAAACFnsicHJpY2UiOjN9',
      'base64',
    ),
  },
];
