import { expect, test } from 'vitest';
import { isHttpUrl } from './http-url.js';

// Four settings tested this in four ways, and some took `http:127.0.0.1` for a URL.
test('a setting of an address takes http and https URLs only', () => {
  const urls = ['http://127.0.0.1:8002', 'HTTPS://example.com/v1?key=a', 'http://[::1]/'];
  expect(urls.filter((text) => !isHttpUrl(text))).toEqual([]);
  const others = ['', 'example.com', '127.0.0.1:8002', 'ftp://example.com', 'http:127.0.0.1', 'http://', ' http://a'];
  expect(others.filter(isHttpUrl)).toEqual([]);
});
