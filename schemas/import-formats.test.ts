import { expect, test } from 'vitest';
import { formatOfName } from './import-formats.js';

// Six tables disagreed: uploads took `.geojsonl` for lines of JSON, the sync for CSV, and the command refused it.
test('the format of a file follows from the end of its name', () => {
  const names = ['shops.csv', 'SHOPS.GeoJSON', 'https://example.com/v1.2/shops.json', 'a b/é.ndjson', 'x.csv.geojsonl'];
  expect(names.map(formatOfName)).toEqual(['csv', 'geojson', 'geojson', 'ndjson', 'ndjson']);
  const others = ['shops', '', '.csv', 'csv', 'https://example.com', 'shops.csv.gz', 'shops.txt', 'shops.constructor'];
  expect(others.map(formatOfName)).toEqual(others.map(() => undefined));
});
