// A store locator: a web page with Radar.ui.map that finds the stores near a town.
//
//   SK=prj_test_sk_… PK=prj_test_pk_… node examples/store-locator.mjs
//
// FENCELINE is the address of the server, by default http://127.0.0.1:8080. Needs the packages radar-sdk-js and
// @radarlabs/plugin-maps. The page has the publishable key only; this program creates the stores with the secret one.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createClient } from 'fenceline/client';

const { SK, PK, FENCELINE: address = 'http://127.0.0.1:8080', PORT = '8090' } = process.env;
const fenceline = createClient({ address, key: SK });

/** Name, longitude and latitude of each store. */
const stores = [
  ['Santa Maria Novella', 11.2486, 43.7745],
  ['Piazza del Duomo', 11.2558, 43.7731],
  ['Campo di Marte', 11.2822, 43.7779],
  ['Porta Romana', 11.2419, 43.7603],
  ['Pisa, Borgo Stretto', 10.4036, 43.7177],
];
await fenceline.call('POST /v1/geofences/batch', {
  body: {
    geofences: stores.map(([description, longitude, latitude], index) => ({
      tag: 'store',
      externalId: `${index + 1}`,
      description,
      type: 'circle',
      coordinates: [longitude, latitude],
      radius: 60,
    })),
  },
});

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Our stores</title>
<link rel="stylesheet" href="/radar-maps.css">
<style>
  body { margin: 0; display: grid; grid-template-columns: 18rem 1fr; height: 100vh }
  body { font: 1rem/1.4 system-ui, sans-serif }
  form, ol { margin: 1rem; padding: 0 }
  li { margin-left: 1.5rem }
</style>
<main>
  <form><label>Near <input name="town" value="Florence, Italy" required></label> <button>Find</button></form>
  <p role="status" style="margin: 1rem"></p>
  <ol></ol>
</main>
<div id="map" style="width: 100%; height: 100%"></div>
<script type="module">
import Radar from '/radar.js';
// The plugin expects the SDK there.
globalThis.Radar = Radar;
await new Promise((loaded) => {
  document.head.append(Object.assign(document.createElement('script'), { src: '/radar-maps.js', onload: loaded }));
});
Radar.initialize(${JSON.stringify(PK)}, { host: ${JSON.stringify(address)} });
const map = Radar.ui.map({ container: 'map', style: 'radar-default-v1', center: [11.2558, 43.7731], zoom: 11 });
globalThis.map = map;
const [form, status, list] = ['form', '[role=status]', 'ol'].map((name) => document.querySelector(name));
let markers = [];

async function find(town) {
  const { addresses: [place] } = await Radar.forwardGeocode({ query: town, layers: ['locality'] });
  if (place === undefined) return (status.textContent = 'We do not know this town.');
  const near = { latitude: place.latitude, longitude: place.longitude };
  const { geofences } = await Radar.searchGeofences({ near, radius: 10_000, tags: ['store'], limit: 10 });
  status.textContent = geofences.length + ' stores within 10 km of ' + place.formattedAddress;
  list.replaceChildren(
    ...geofences.map(({ description }) => Object.assign(document.createElement('li'), { textContent: description })),
  );
  for (const marker of markers) marker.remove();
  markers = geofences.map(({ description, geometryCenter }) =>
    Radar.ui.marker({ popup: { text: description } }).setLngLat(geometryCenter.coordinates).addTo(map),
  );
  map.setCenter([near.longitude, near.latitude]);
}
form.addEventListener('submit', (event) => {
  event.preventDefault();
  void find(form.town.value);
});
await find(form.town.value);
</script>
</html>`;

/** The files of the page, by path. */
const installed = (name, fromEntry) => readFileSync(new URL(fromEntry, import.meta.resolve(name)));
const files = {
  '/': ['text/html', page],
  '/radar.js': ['text/javascript', installed('radar-sdk-js', 'radar.js')],
  '/radar-maps.js': ['text/javascript', installed('@radarlabs/plugin-maps', '../cdn/radar-maps.min.js')],
  '/radar-maps.css': ['text/css', installed('@radarlabs/plugin-maps', '../cdn/radar-maps.css')],
};
const server = createServer(({ url }, response) => {
  const [type, bytes] = files[url] ?? [];
  if (bytes === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': type }).end(bytes);
});
server.listen(Number(PORT), '127.0.0.1', () => console.log(`open http://127.0.0.1:${server.address().port}`));
