/**
 * Views of the built-in basemap: all styles, from the world to a village, the antimeridian, the poles, languages and
 * scripts.
 */
import { type ReferenceView, viewsOf } from '../view.js';

const view = viewsOf('basemap');

/** Views of the built-in basemap. */
export const worldViews: readonly ReferenceView[] = [
  view('world', 'width=512&height=400&center=20,10&zoom=1'),
  view('world-light', 'width=512&height=256&center=20,110&zoom=1&style=svc-light-v1'),
  view('world-dark', 'width=400&height=300&center=25,-90&zoom=1.4&style=svc-dark-v1'),
  view('north-america', 'center=42,-90&zoom=2.2'),
  view('africa', 'center=5,20&zoom=2'),
  view('asia-light', 'center=30,105&zoom=2.5&style=svc-light-v1'),
  view('south-america-dark', 'center=-20,-60&zoom=2&style=svc-dark-v1'),
  view('europe-3', 'center=50,12&zoom=3'),
  view('europe-4', 'width=400&height=300&center=48,10&zoom=4'),
  view('europe-4-light', 'center=48,10&zoom=4&style=svc-light-v1'),
  view('europe-4-dark', 'center=48,10&zoom=4&style=svc-dark-v1'),
  view('great-lakes', 'center=43.5,-83&zoom=4.5'),
  view('italy-5', 'center=42.5,12.5&zoom=5'),
  view('alps-5-scale-2', 'width=200&height=150&center=46.5,9.5&zoom=5.5&scale=2'),
  view('tuscany-6', 'center=43.5,11.3&zoom=6'),
  view('tuscany-7', 'center=43.7,11.2&zoom=7.4'),
  view('rhine-8-dark', 'center=50.9,7&zoom=8&style=svc-dark-v1'),
  view('florence-without-streets-9', 'center=43.77,11.25&zoom=9'),
  view('florence-without-streets-11-light', 'center=43.77,11.25&zoom=11&style=svc-light-v1'),
  view('village-without-streets-15', 'center=43.805,11.293&zoom=15'),

  view('fiji', 'bbox=-20,176,-15,-178'),
  view('new-zealand', 'center=-41,174&zoom=4'),
  view('chukotka', 'center=66,-178&zoom=4'),
  view('chukotka-dark', 'bbox=60,165,72,-165&style=svc-dark-v1'),
  view('aleutians', 'center=52,179.5&zoom=4'),
  view('antarctica', 'center=-70,-60&zoom=1'),
  view('antarctica-ross-sea', 'center=-80,180&zoom=2'),
  view('arctic', 'center=84,-30&zoom=2'),

  view('japan-ja', 'center=36.5,137&zoom=4.5&language=ja'),
  view('japan-ru', 'center=36.5,137&zoom=4.5&language=ru'),
  view('china-zh', 'center=33,108&zoom=3&language=zh'),
  view('korea-ko', 'center=37,128&zoom=4&language=ko'),
  view('arabia-ar', 'center=25,42&zoom=3.5&language=ar'),
  view('levant-he-dark', 'center=32,36&zoom=5&language=he&style=svc-dark-v1'),
  view('thailand-th', 'center=14,102&zoom=4&language=th'),
  view('india-hi', 'center=22,80&zoom=3&language=hi'),
  view('greece-el-light', 'center=39,23&zoom=4.5&language=el&style=svc-light-v1'),
  view('europe-local', 'center=50,15&zoom=3.5&language=native'),
];
