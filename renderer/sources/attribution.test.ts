import { expect, test } from 'vitest';
import { plainAttribution } from './attribution.js';

test.each([
  [
    '<a href="https://www.openmaptiles.org/" target="_blank">&copy; OpenMapTiles</a> <a href="https://osm.org">&#169; OpenStreetMap contributors</a>',
    '© OpenMapTiles © OpenStreetMap contributors',
  ],
  ['<a href="https://protomaps.com">Protomaps</a>\n<b>©</b> OSM', 'Protomaps © OSM'],
  ['Bread &amp; Butter &lt;b&gt; &#x2014; &unknown;', 'Bread & Butter <b> — &unknown;'],
  // Were drawn with the names of their entities.
  ['Bundesamt f&uuml;r Stra&szlig;en, &Eacute;tat, Espa&ntilde;a, &Aring;s', 'Bundesamt für Straßen, État, España, Ås'],
  ['&Oslash; &oslash; &AElig; &COPY; &AMP; &hellip; &laquo;x&raquo; &bull;', 'Ø ø Æ © & … «x» •'],
  // Browsers need no semicolon either.
  [
    '&copy OpenStreetMap, &#169 Us &amp them, AT&T, R&D, &copyright',
    '© OpenStreetMap, © Us & them, AT&T, R&D, &copyright',
  ],
  // No letter has this accent.
  ['&quml;', '&quml;'],
  ['&qtilde;', '&qtilde;'],
  // Halves of a character are none.
  ['a&#xD83D;b', 'a b'],
  // Was the source text of a function.
  ['&constructor; &valueOf;', '&constructor; &valueOf;'],
  // The drawing engine throws for null characters, so every map failed.
  ['One\u0000two\u0007', 'One two'],
  ['<a>One</a>, <a>two</a>.', 'One, two.'],
  ['plain', 'plain'],
  ['&#0;&#1114112;', ''],
  [undefined, ''],
  [17, ''],
])('%j is %j', (html, text) => {
  expect(plainAttribution(html)).toBe(text);
});

test('the text is cut to 500 characters', () => {
  expect(plainAttribution('x'.repeat(100_000))).toHaveLength(500);
});

// The rest of a tag whose end was cut off was drawn, and half of a character.
test('a cut leaves neither a part of a tag nor half of a character', () => {
  expect(plainAttribution(`OSM <a href="${'x'.repeat(5_000)}">link</a>`)).toBe('OSM');
  expect(plainAttribution(`${'x'.repeat(499)}🌍🌍`)).toBe('x'.repeat(499));
  expect(plainAttribution('1 < 2 > 0')).toBe('1 < 2 > 0');
});
