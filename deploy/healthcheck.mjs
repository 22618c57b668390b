// Ends with status 0 when the Fenceline of this container is ready. Run by Docker, every few seconds: plain http, for
// it starts fastest.
import { get } from 'node:http';

const port = process.env.FENCELINE_PORT || 8080;
const timeoutMs = 3_000;

get({ host: '127.0.0.1', port, path: '/health/ready', timeout: timeoutMs })
  .on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('timeout', () => process.exit(1))
  .on('error', () => process.exit(1));
