/** Views of markers, paths and geofences with all options, and of fitted cameras. */
import { type ReferenceView, viewsOf } from '../view.js';

const world = viewsOf('basemap');
const florence = viewsOf('florence');
const sanFrancisco = viewsOf('san-francisco');

const row = (latitude: number, west: number, east: number, count: number): string =>
  Array.from({ length: count }, (_, i) => `${latitude},${(west + ((east - west) * i) / (count - 1)).toFixed(2)}`).join(
    '|',
  );

/** Views of markers, paths and geofences. */
export const overlayViews: readonly ReferenceView[] = [
  florence('marker-alone', 'markers=43.7745,11.2575'),
  florence(
    'marker-colors',
    'zoom=14&center=43.7753,11.2592&markers=43.775,11.254&markers=color:0xE4002B|43.776,11.2566&markers=color:0x00853E80|43.775,11.2592&markers=color:orange|43.776,11.2618&markers=color:white|43.775,11.2643',
  ),
  florence(
    'marker-sizes',
    'markers=size:normal|43.7745,11.2565|43.7765,11.2600&markers=color:crimson|size:small|43.7750,11.2585|43.7762,11.2560',
  ),
  florence(
    'marker-icons',
    'zoom=16&center=43.7745,11.2575&markers=icon:depot|43.7742,11.2565&markers=icon:photo|43.7742,11.2575&markers=icon:large|43.7742,11.2586',
  ),
  florence(
    'marker-icons-small-scale-2',
    'width=180&height=120&scale=2&zoom=16&center=43.7745,11.2575&markers=size:small|icon:depot|43.7742,11.2569&markers=size:small|icon:photo|43.7742,11.2575&markers=size:small|icon:large|43.7742,11.2581',
  ),
  florence('marker-icon-missing', 'zoom=16&center=43.7745,11.2575&markers=icon:missing|color:purple|43.7742,11.2575'),
  world(
    'markers-many',
    `center=44,8&zoom=3.5&markers=color:teal|size:small|${row(52, -5, 20, 12)}|${row(46, -5, 20, 12)}|${row(40, -5, 20, 12)}`,
  ),
  world('markers-fitted', 'markers=color:red|41.9,12.5|48.85,2.35|52.52,13.4|40.4,-3.7'),
  world('markers-fitted-antimeridian', 'markers=color:red|-18.14,178.44|-13.83,-171.77|-21.13,-175.2'),
  world(
    'markers-fitted-dark-scale-3',
    'width=120&height=100&scale=3&style=svc-dark-v1&markers=color:gold|35.68,139.69|37.57,126.98',
  ),
  world('marker-with-zoom-only', 'zoom=6&markers=64.14,-21.9'),

  florence('path-default', 'path=43.7731,11.2558|43.7752,11.2560|43.7762,11.2590|43.7745,11.2610'),
  florence(
    'path-options',
    'path=stroke:0xE4002B|width:8|border:black|borderWidth:3|43.7740,11.2530|43.7760,11.2570&path=stroke:0x00853E|width:1|borderWidth:0|43.7735,11.2545|43.7765,11.2600&path=stroke:0x1F6FEB99|width:14|border:0xFFFFFF66|borderWidth:4|43.7735,11.2580|43.7760,11.2620|43.7745,11.2640',
  ),
  florence('path-encoded', `path=stroke:purple|enc:${encodeURIComponent('kodjGo`ucAoKgEcBwQjHoKcBwQ')}`),
  florence(
    'path-encoded-6',
    `path=stroke:teal|width:5|enc6:${encodeURIComponent('wbvnrA_n{mT_|Bo}@g^ozDv|A_|Bg^ozD')}`,
  ),
  florence(
    'path-line-string',
    'path=stroke:darkorange|{"type":"LineString","coordinates":[[11.2540,43.7735],[11.2570,43.7755],[11.2600,43.7740],[11.2630,43.7760]]}',
  ),
  florence(
    'path-along-names-dark',
    'style=svc-dark-v1&zoom=15&center=43.7750,11.2580&path=stroke:gold|width:6|borderWidth:1|border:black|43.7731,11.2530|43.7752,11.2560|43.7762,11.2590|43.7745,11.2640&markers=color:gold|43.7731,11.2530',
  ),
  world(
    'path-antimeridian',
    'width=400&height=300&path=stroke:crimson|-36.85,174.76|-17.7,177.9|21.3,-157.86&markers=size:small|-36.85,174.76|21.3,-157.86',
  ),
  world(
    'path-antimeridian-bbox',
    'bbox=-40,160,30,-140&path=stroke:crimson|width:2|35.68,139.69|21.3,-157.86|-36.85,174.76',
  ),
  world(
    'path-around-the-world',
    'width=512&height=256&center=40,180&zoom=1&path=stroke:navy|width:2|51.5,0|30,75|35,139|37,-122|40,-74|51.5,0',
  ),

  sanFrancisco('geofences', 'geofences=shops&markers=37.7905,-122.4&style=svc-light-v1', {
    fences: [
      { type: 'circle', center: [-122.4029, 37.7925], radiusM: 150 },
      {
        type: 'polygon',
        ring: [
          [-122.401, 37.7895],
          [-122.398, 37.7918],
          [-122.3955, 37.79],
          [-122.3985, 37.788],
        ],
      },
    ],
  }),
  world('geofences-antimeridian', 'geofences=islands&style=svc-dark-v1', {
    fences: [
      { type: 'circle', center: [179.5, -17.5], radiusM: 250_000 },
      {
        type: 'polygon',
        ring: [
          [178, -21],
          [-178, -21],
          [-179, -19],
          [179, -19],
        ],
      },
    ],
  }),
  world('bbox-tall', 'width=150&height=250&bbox=36,6,47.5,19'),
  world('webp', 'center=46,2&zoom=4&format=webp'),
  world('jpeg-scale-2', 'width=150&height=100&scale=2&center=40,-4&zoom=4&format=jpg'),
];
