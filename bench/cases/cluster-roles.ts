/**
 * Measures what a location costs an ingest process, and what a delivery costs a webhooks process, in a cluster on this
 * machine. In: a cluster with a project and with events that were not delivered yet. Out: rows.
 */
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { topics } from '../../pipeline/ports.js';
import { grouped } from '../../schemas/wording.js';
import type { Row } from '../case.js';
import type { BenchCluster, BenchProject } from '../cluster.js';
import { send } from '../http.js';
import { startReceiver } from '../receiver.js';
import { uploadAll, uploadBodies } from '../uploads.js';
import { processorSeconds } from '../usage.js';
import { benchWebhook } from '../webhook.js';

/**
 * Measures from the first request to the commit of the last location. Evaluation paces uploads, so a pipeline process
 * runs as well.
 */
export async function uploadRows(
  cluster: BenchCluster,
  project: BenchProject,
  count: number,
  rounds: number,
): Promise<Row[]> {
  const [ingest, pipeline] = [await cluster.node('ingest'), await cluster.node('pipeline')];
  const agent = new Agent({ keepAlive: true });
  const url = `${ingest.address}/v1/locations`;
  const perSecond: number[] = [];
  const ingestUs: number[] = [];
  const startMs = Date.now() - 3_600_000;
  for (let round = 0; round <= rounds; round++) {
    const bodies = uploadBodies(count, 60 + round, startMs + round * 600_000);
    const [fromMs, usedS] = [performance.now(), processorSeconds(ingest.pid)];
    await uploadAll(bodies, (body) =>
      send(agent, { method: 'POST', url, key: project.secretKey, body, contentType: 'application/x-ndjson' }),
    );
    while ((await cluster.backlog()) > 0) await delay(5);
    // The first round warms up.
    if (round === 0) continue;
    perSecond.push((count / (performance.now() - fromMs)) * 1_000);
    ingestUs.push(((processorSeconds(ingest.pid) - usedS) * 1e6) / count);
  }
  agent.destroy();
  await cluster.end(ingest);
  await cluster.end(pipeline);
  return [
    { what: 'uploaded and evaluated, one process of each', unit: 'locations/s', rounds: perSecond },
    { what: 'processor time of ingest', unit: 'µs/location', rounds: ingestUs },
  ];
}

/** Delivers all events to one webhook. Measures from the end of the first tenth. */
export async function deliveryRows(cluster: BenchCluster, project: BenchProject): Promise<Row[]> {
  const { log } = cluster.backend;
  const receiver = await startReceiver();
  const webhook = benchWebhook(cluster.secretCipher, {
    name: project.id,
    secretByte: 1,
    project: project.id,
    url: `http://127.0.0.1:${receiver.port}/`,
  });
  await cluster.write({ kind: 'webhook', id: webhook._id, record: webhook });
  const partitions = Array.from({ length: log.partitions(topics.events) }, (_, partition) =>
    log.bounds(topics.events, partition),
  );
  const total = (await Promise.all(partitions)).reduce((sum, { first, end }) => sum + end - first, 0);
  const node = await cluster.node('webhooks');
  let received = 0;
  const receivedAll = async (count: number): Promise<void> => {
    while (received < count) {
      received += (await receiver.snapshot()).requests;
      await delay(5);
    }
  };
  await receivedAll(total / 10);
  const [from, fromMs, usedS] = [received, performance.now(), processorSeconds(node.pid)];
  await receivedAll(total);
  const count = received - from;
  const perSecond = (count / (performance.now() - fromMs)) * 1_000;
  const processorUs = ((processorSeconds(node.pid) - usedS) * 1e6) / count;
  await cluster.end(node);
  await receiver.close();
  return [
    { what: `${grouped(total)} deliveries to one webhook`, unit: 'requests/s', rounds: [perSecond] },
    { what: 'processor time of webhooks', unit: 'µs/request', rounds: [processorUs] },
  ];
}
