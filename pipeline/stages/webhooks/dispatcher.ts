/**
 * Sends what waits, to thousands of webhooks at once, none slowing another.
 *
 * Each webhook has its own bounded concurrency; one whose last try failed, or that never was tried, gets one request at
 * a time until one succeeds, and all of those together get at most half of the places. Free places go to the webhooks
 * in turn, whatever waits for each.
 * Deliveries of one webhook with one order key are sent one at a time, first tries in the order of their arrival; one
 * that waits for its next try holds nothing back.
 *
 * Flows in: sources with what waits in them, and what is added. Flows out: tries; their outcomes go to the settler. May
 * import: schemas, ports.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { ConfigurationReader, Scope } from '../../catalog/types.js';
import type { DeliveryQueue, Log } from '../../ports.js';
import type { Metrics } from '../metrics.js';
import { type EndedDelivery, Settler } from './acknowledgement-batcher.js';
import type { Try } from './attempt.js';
import { Background } from './background.js';
import { isDisabled, Parking } from './disabled-endpoints.js';
import { Endpoint, type TakenDelivery } from './endpoint.js';
import { Lane, type WindowBudget } from './endpoint-queue.js';
import { Examiner } from './health-loader.js';
import type { WebhookDirectory } from './matching.js';
import { ReadyEndpoints } from './ready.js';
import { type Disable, Sender } from './sender.js';
import type { HeldDelivery, Source } from './source.js';
import type { Timers } from './timers.js';

export interface DispatcherBounds {
  /** Requests in flight, and ended ones that are not on record yet. */
  readonly maxConcurrency: number;
  readonly maxConcurrencyPerWebhook: number;
  /** Deliveries of one webhook in one source, in memory. */
  readonly maxWindow: number;
  /** Deliveries of all, in memory; past it there is one in each window. */
  readonly maxHeldDeliveries: number;
  /** A delivery that waits longer is given up. */
  readonly keepWaitingMs: number;
}

export interface DispatcherParts {
  readonly log: Pick<Log, 'append'>;
  readonly queue: DeliveryQueue;
  readonly configuration: Pick<ConfigurationReader, 'version'>;
  readonly directory: WebhookDirectory;
  readonly tryIt: Try;
  readonly disable: Disable;
  /** Epoch ms. */
  readonly clock: () => number;
  readonly timers: Timers;
  /** 0 up to 1, as of Math.random. */
  readonly random: () => number;
  readonly metrics: Metrics;
  readonly codecs: Codecs;
  readonly bounds: DispatcherBounds;
  readonly onFailure: (error: unknown) => void;
}

const lookForDeletedEveryMs = 1_000;

export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #ready = new ReadyEndpoints();
  readonly #budget: WindowBudget = { held: 0 };
  readonly #background: Background;
  readonly #examiner: Examiner;
  readonly #parking: Parking;
  readonly #settler: Settler;
  readonly #sender: Sender;
  readonly #maxUntrusted: number;
  #seenVersion = -1;
  readonly #deletionTimer: unknown;
  #taken = 0;
  #untrustedInFlight = 0;
  #isClosed = false;

  constructor(parts: DispatcherParts) {
    const { log, queue, codecs, clock, timers, metrics, bounds } = parts;
    const background = new Background(parts.onFailure);
    this.#parts = parts;
    this.#background = background;
    this.#maxUntrusted = Math.ceil(bounds.maxConcurrency / 2);
    this.#settler = new Settler({
      log,
      codec: codecs.attempt,
      metrics,
      onSettled: (ended) => this.#settled(ended),
      background,
    });
    this.#sender = new Sender({ ...parts, settler: this.#settler, background });
    this.#examiner = new Examiner({
      queue,
      codec: codecs.delivery,
      clock,
      onExamined: (endpoint) => this.#wake(endpoint),
      background,
    });
    this.#parking = new Parking({
      ...bounds,
      timers,
      clock,
      version: () => parts.configuration.version,
      webhookOf: (endpoint) => this.#webhookOf(endpoint),
      onLeaving: (endpoint) => this.#wake(endpoint),
      giveUp: (endpoint, webhook, taken) => this.#giveUp(endpoint, webhook, taken),
      settled: () => this.#settler.flushed(),
      background,
    });
    this.#deletionTimer = timers.repeat(() => this.#wakeDeleted(), lookForDeletedEveryMs);
  }

  /** Begins with what waits in the source. */
  attach(source: Source, waiting: readonly { readonly webhook: string; readonly nextDueAtMs: number }[]): void {
    for (const { webhook, nextDueAtMs } of waiting)
      this.#ready.add(this.#endpointOf(webhook, source, undefined, nextDueAtMs));
    this.#pump();
  }

  /** Takes in what was just added to the source. */
  offer(source: Source, deliveries: readonly HeldDelivery[]): void {
    for (const held of deliveries) {
      const { webhook, project, environment } = held.delivery;
      const endpoint = this.#endpointOf(webhook, source, { project, environment });
      endpoint.lanes.get(source)?.offer(held, this.#windowOf(endpoint));
      this.#ready.add(endpoint);
    }
    this.#pump();
  }

  /** Begins nothing more of the source; what is in flight goes on. */
  detach(source: Source): void {
    for (const endpoint of this.#endpoints.values()) {
      endpoint.leave(source);
      this.#ready.add(endpoint);
    }
    this.#pump();
  }

  /** Begins nothing more; resolves when what is under way has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#examiner.close();
    this.#parking.close();
    this.#parts.timers.clear(this.#deletionTimer);
    for (const { timer } of this.#endpoints.values()) this.#parts.timers.clear(timer);
    await this.#background.idle();
  }

  /** With a lane for the source. */
  #endpointOf(id: string, source: Source, scope?: Scope, restDueAtMs = Number.POSITIVE_INFINITY): Endpoint {
    const known = this.#endpoints.get(id);
    const endpoint = known ?? new Endpoint(id);
    endpoint.scope ??= scope;
    if (!endpoint.lanes.has(source)) {
      const { codecs, metrics } = this.#parts;
      const parts = { source, webhook: id, codec: codecs.delivery, budget: this.#budget, metrics };
      endpoint.lanes.set(source, new Lane(parts, restDueAtMs));
    }
    if (known === undefined) {
      this.#endpoints.set(id, endpoint);
      this.#examiner.examine(endpoint);
    }
    return endpoint;
  }

  /** Wakes endpoints whose webhook was deleted: what waits for them goes now, and not when its retry would be due. */
  #wakeDeleted(): void {
    const { version } = this.#parts.configuration;
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    for (const endpoint of this.#endpoints.values()) {
      if (endpoint.scope !== undefined && this.#webhookOf(endpoint) === undefined) this.#ready.add(endpoint);
    }
    this.#pump();
  }

  /** One that fails holds no more in memory than it may send. */
  #windowOf(endpoint: Endpoint): number {
    const { maxWindow, maxHeldDeliveries } = this.#parts.bounds;
    return endpoint.isTrusted && this.#budget.held < maxHeldDeliveries ? maxWindow : 1;
  }

  #concurrencyOf({ isTrusted }: Endpoint): number {
    return isTrusted ? this.#parts.bounds.maxConcurrencyPerWebhook : 1;
  }

  #webhookOf({ scope, id }: Endpoint): WebhookRecord | undefined {
    return scope && this.#parts.directory.webhook(scope, id);
  }

  #wake(endpoint: Endpoint): void {
    this.#ready.add(endpoint);
    this.#pump();
  }

  /** Gives the free places to those who are ready, one each, until there are no more of either. */
  #pump(): void {
    while (!this.#isClosed && this.#taken < this.#parts.bounds.maxConcurrency) {
      const endpoint = this.#ready.next(this.#untrustedInFlight < this.#maxUntrusted);
      if (endpoint === undefined) return;
      this.#turn(endpoint);
    }
  }

  /** One step for one webhook. */
  #turn(endpoint: Endpoint): void {
    const { condition, scope } = endpoint;
    // It comes again when it has been examined.
    if (condition === undefined) return;
    const webhook = this.#webhookOf(endpoint);
    const nowMs = this.#parts.clock();
    if (endpoint.isIdle || scope === undefined) this.#remove(endpoint);
    else if (webhook === undefined) this.#forget(endpoint);
    else if (isDisabled(webhook, condition)) this.#parking.add(endpoint);
    else if (nowMs < condition.pausedUntilMs) this.#wakeAt(endpoint, condition.pausedUntilMs, nowMs);
    else if (endpoint.inFlight < this.#concurrencyOf(endpoint)) this.#sendNext(endpoint, webhook, nowMs);
  }

  /** One request, or a read of what waits, or the decision when to look again. */
  #sendNext(endpoint: Endpoint, webhook: WebhookRecord, nowMs: number): void {
    const taken = endpoint.take();
    if (taken === undefined) {
      this.#load(endpoint, nowMs);
      return;
    }
    const isTooOld = taken.held.delivery.createdAt <= nowMs - this.#parts.bounds.keepWaitingMs;
    if (isTooOld) this.#giveUp(endpoint, webhook, taken);
    else this.#send(endpoint, webhook, taken);
    this.#ready.add(endpoint);
  }

  #load(endpoint: Endpoint, nowMs: number): void {
    const maxWindow = this.#windowOf(endpoint);
    for (const lane of endpoint.lanes.values()) {
      if (lane.isLoading || lane.restDueAtMs > nowMs || !lane.hasRoom(maxWindow)) continue;
      this.#background.run(lane.load(maxWindow, nowMs).then(() => this.#wake(endpoint)));
    }
    const { restDueAtMs } = endpoint;
    if (restDueAtMs > nowMs && restDueAtMs < Number.POSITIVE_INFINITY) this.#wakeAt(endpoint, restDueAtMs, nowMs);
  }

  #wakeAt(endpoint: Endpoint, atMs: number, nowMs: number): void {
    const { timers } = this.#parts;
    if (endpoint.wakesAtMs === atMs) return;
    timers.clear(endpoint.timer);
    endpoint.wakesAtMs = atMs;
    endpoint.timer = timers.set(() => {
      endpoint.wakesAtMs = Number.POSITIVE_INFINITY;
      this.#wake(endpoint);
    }, atMs - nowMs);
  }

  #send(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): void {
    const { orderKey } = taken.held.delivery;
    const untrusted = endpoint.isTrusted ? 0 : 1;
    this.#begin(taken);
    this.#untrustedInFlight += untrusted;
    endpoint.inFlight += 1;
    endpoint.busyKeys.add(orderKey);
    const ended = (): void => {
      endpoint.inFlight -= 1;
      endpoint.busyKeys.delete(orderKey);
      this.#untrustedInFlight -= untrusted;
      this.#wake(endpoint);
    };
    this.#background.run(this.#sender.send(endpoint, webhook, taken).then(ended));
  }

  #giveUp(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): void {
    this.#begin(taken);
    this.#sender.giveUp(endpoint, webhook, taken);
  }

  #begin({ lane }: TakenDelivery): void {
    this.#taken += 1;
    lane.source.begin();
  }

  #settled(ended: readonly EndedDelivery[]): void {
    this.#taken -= ended.length;
    for (const { endpoint } of ended) this.#ready.add(endpoint);
    this.#pump();
  }

  /** The webhook was deleted: nobody wants what waits for it. */
  #forget(endpoint: Endpoint): void {
    for (const source of [...endpoint.lanes.keys()]) {
      endpoint.leave(source);
      source.begin();
      this.#background.run(source.drop(endpoint.id).then(() => source.end()));
    }
    this.#remove(endpoint);
  }

  #remove(endpoint: Endpoint): void {
    this.#parts.timers.clear(endpoint.timer);
    if (this.#endpoints.get(endpoint.id) === endpoint) this.#endpoints.delete(endpoint.id);
  }
}
