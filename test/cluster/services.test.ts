import { expect, test } from 'vitest';
import { services } from '../services/services.js';

test('are there', () => {
  console.log(JSON.stringify(services()));
  expect(services()).toBeDefined();
});
