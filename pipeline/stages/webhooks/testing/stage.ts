/** The webhook stage for tests: embedded log and queues in a temporary folder, with writable configuration. */
import { codecs } from '../../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../../schemas/json/webhook.js';
import type { Attempt, Event } from '../../../../schemas/records.js';
import { exampleEvent } from '../../../../schemas/testing/examples.js';
import { until } from '../../../../testing/until.js';
import { scope } from '../../../catalog/testing/fixtures.js';
import { type Subscription, topics } from '../../../ports.js';
import { idOf, plain, projectRecord, readAll, TestNode } from '../../testing/node.js';
import { createWebhookStage, type WebhookAlert, type WebhookStageBounds, type WebhookStageParts } from '../stage.js';
import { retryDelaysMs, webhookStageBounds } from './bounds.js';
import { ScriptedClient } from './scripted-client.js';
import { VirtualTime } from './virtual-time.js';
import { secretCipher, webhookRecord } from './webhooks.js';

export { idOf };

/** Returns an event, identified by the numbers of its device, of the location and within the location. */
export const eventRecord = (device: number, location: number, number = 0, fields: Partial<Event> = {}): Event =>
  exampleEvent({
    id: idOf('event', device * 1_000_000 + location * 1_000 + number),
    ...scope,
    createdAt: 1_000,
    actualCreatedAt: 1_000,
    locationId: idOf('location', device * 1_000 + location),
    user: { id: idOf('user', device), userId: null, deviceId: `device ${device}`, profile: null },
    geofence: null,
    ...fields,
  });

/** Returns the key of an event's record. */
export const keyOfEvent = ({ project, environment, user, id }: Event): string =>
  `${project}/${environment}/${user?.deviceId ?? id}`;

interface StartedWebhookStage extends Partial<Omit<WebhookStageParts, 'bounds'>> {
  readonly bounds?: Partial<WebhookStageBounds>;
}

/** A node with the webhook stage, whose time and client a test controls. */
export class WebhookNode {
  readonly time = new VirtualTime();
  readonly client = new ScriptedClient(this.time.clock);
  readonly alerts: WebhookAlert[] = [];
  readonly node: TestNode;
  #stages: Subscription[] = [];

  private constructor(node: TestNode) {
    this.node = node;
  }

  /** Opens a node with one project in a new folder. */
  static async open(partitions = 1): Promise<WebhookNode> {
    const node = await TestNode.open({ partitions });
    await node.configure({ kind: 'project', record: projectRecord() });
    return new WebhookNode(node);
  }

  /** Writes webhooks, and waits until the read model has them. */
  configure(...webhooks: WebhookRecord[]): Promise<void> {
    return this.node.configure(...webhooks.map((record) => ({ kind: 'webhook' as const, record })));
  }

  /** Disables a webhook as the server does. */
  readonly disable: WebhookStageParts['disable'] = async (webhook, reason, at) => {
    if (this.node.readModel.webhook(webhook, webhook._id)?.updatedAt !== webhook.updatedAt) return false;
    await this.configure({ ...webhook, enabled: false, disabled: { reason, at }, updatedAt: webhook.updatedAt + 1 });
    return true;
  };

  /** Starts the stage, by default in virtual time with the scripted client. */
  start({ bounds, ...parts }: StartedWebhookStage = {}): Subscription {
    const { embedded, readModel } = this.node;
    const stage = createWebhookStage({
      log: embedded.log,
      queue: embedded.deliveryQueue,
      states: embedded.stateStore,
      configuration: readModel,
      client: this.client,
      secretCipher,
      disable: this.disable,
      clock: this.time.clock,
      monotonicMs: this.time.monotonicMs,
      timers: this.time.timers,
      random: () => 0.5,
      onAlert: (alert) => this.alerts.push(alert),
      retryDelaysMs,
      ...parts,
      bounds: { ...webhookStageBounds, ...bounds },
    });
    this.#stages.push(stage);
    return stage;
  }

  /** Appends events, keyed by device. */
  append(...events: Event[]): Promise<void> {
    return this.node.embedded.log.append(
      topics.events,
      events.map((event) => ({ key: keyOfEvent(event), value: codecs.event.encode(event) })),
    );
  }

  /** Returns all attempts of the log. */
  async attempts(): Promise<Attempt[]> {
    const records = await readAll(this.node.embedded, topics.attempts);
    return records.map(({ value }) => plain(codecs.attempt.decode(value as Buffer)));
  }

  /** Resolves when this many attempts are recorded. */
  async attempted(count: number): Promise<Attempt[]> {
    await until(async () => (await this.attempts()).length >= count);
    return this.attempts();
  }

  /** Returns the number of deliveries in the queue. */
  waiting(): Promise<number> {
    return this.node.embedded.deliveryQueue.size();
  }

  /** Closes the started stages. */
  async stop(): Promise<void> {
    await Promise.all(this.#stages.splice(0).map((stage) => stage.close()));
  }

  /** Closes the node and opens it again on the same folder. */
  async reopen(): Promise<void> {
    await this.stop();
    await this.node.reopen();
  }

  /** Closes the node and deletes its folder. */
  async dispose(): Promise<void> {
    await this.stop();
    await this.node.dispose();
  }
}

export { webhookRecord };
