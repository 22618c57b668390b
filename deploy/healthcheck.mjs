// Exits with status 0 when Fenceline in this container is ready. Docker runs it every few seconds, so it imports only
// node:http, which starts fastest.
import { get } from 'node:http';

const port = process.env.FENCELINE_PORT || 8080;
const timeoutMs = 3_000;

get({ host: '127.0.0.1', port, path: '/health/ready', timeout: timeoutMs })
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
