import { expect, test } from 'vitest';
import { mapParameters as described } from '../../api/maps/description.js';
import { mapParameters } from './map.js';

test('the command knows the parameters of the API, and which of them may be repeated', () => {
  const kind = (schema: object) => ('type' in schema && schema.type === 'array' ? 'array' : 'string');
  const expected = Object.entries(described.properties).map(([name, schema]) => [name, { type: kind(schema) }]);
  expect(mapParameters).toEqual(Object.fromEntries(expected));
});
