// Delivery zones: three vans drive through the zones of a city, and each arrival and departure is printed.
//
//   SK=prj_test_sk_… node examples/delivery-zones.mjs
//
// FENCELINE is the address of the server, by default http://127.0.0.1:8080.
import { createClient } from 'fenceline/client';

const fenceline = createClient({ address: process.env.FENCELINE ?? 'http://127.0.0.1:8080', key: process.env.SK });

/** West, south, east and north of each zone, in degrees. They lie side by side. */
const zones = {
  west: [11.24, 43.76, 11.25, 43.78],
  middle: [11.25, 43.76, 11.26, 43.78],
  east: [11.26, 43.76, 11.27, 43.78],
};
const vans = ['van-1', 'van-2', 'van-3'];
/** They drive east, from before the first zone to behind the last one. */
const longitudes = [11.235, 11.245, 11.255, 11.265, 11.275];

const zonesAsRecords = Object.entries(zones).map(([externalId, [west, south, east, north]]) => ({
  tag: 'delivery-zone',
  externalId,
  description: `Zone ${externalId}`,
  type: 'polygon',
  coordinates: [
    [
      [west, south],
      [east, south],
      [east, north],
      [west, north],
      [west, south],
    ],
  ],
}));
await fenceline.call('POST /v1/geofences/batch', { body: { geofences: zonesAsRecords } });

for (const longitude of longitudes) {
  for (const [index, deviceId] of vans.entries()) {
    const place = { latitude: 43.765 + index * 0.005, longitude, accuracy: 5 };
    // The answer has the events of this location. Webhooks and the live stream have them as well.
    const { events } = await fenceline.call('POST /v1/track', { body: { deviceId, ...place } });
    for (const { type, geofence } of events) {
      const verb = type === 'user.entered_geofence' ? 'arrives in' : 'leaves';
      console.log(`${deviceId} ${verb} ${geofence.description}`);
    }
  }
}
