/** Serves chDB from a worker thread. Worker data: the folder and the port to serve on. */
import { type MessagePort, workerData } from 'node:worker_threads';
import { type ChdbAnalytics, openChdbAnalytics } from '../../../backends/embedded/analytics.js';
import { serve } from '../../../backends/embedded/remote.js';

const { path, port } = workerData as { path: string; port: MessagePort };
serve<ChdbAnalytics>(port, await openChdbAnalytics({ path }));
