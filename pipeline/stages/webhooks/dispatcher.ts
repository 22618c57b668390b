/**
 * Sends queued deliveries to thousands of webhooks concurrently, so that none slows another.
 *
 * Each webhook has its own concurrency limit. A webhook whose last attempt failed, or that has none yet, gets one
 * request at a time until one succeeds. All such webhooks together get at most half of the slots. Free slots go to
 * webhooks in turn, whatever the length of their queues. Deliveries of one webhook with one order key are sent one at a
 * time, first attempts in order of arrival; a delivery that waits for its retry blocks nothing.
 *
 * Input: sources with their queued deliveries, and new deliveries. Output: attempts, whose outcomes go to the
 * acknowledgement batcher.
 */
import type { Codecs } from '../../../schemas/codecs.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { ConfigurationReader, Scope } from '../../catalog/types.js';
import type { DeliveryQueue, Log } from '../../ports.js';
import { Background, type Timers } from '../background.js';
import type { Metrics } from '../metrics.js';
import { AcknowledgementBatcher, type EndedDelivery } from './acknowledgement-batcher.js';
import type { SendAttempt } from './attempt.js';
import type { ClaimedSource, LoadedDelivery } from './claimed-source.js';
import { DisabledEndpoints, isDisabled } from './disabled-endpoints.js';
import { Endpoint, ReadyEndpoints, type TakenDelivery } from './endpoint.js';
import { EndpointQueue } from './endpoint-queue.js';
import { HealthLoader } from './health-loader.js';
import { type LoadedBounds, LoadedDeliveries } from './loaded-deliveries.js';
import type { WebhookDirectory } from './matching.js';
import { type Disable, Sender } from './sender.js';

/** Limits of one process, over all webhooks unless a name says otherwise. */
export interface DispatcherBounds extends LoadedBounds {
  /** Requests in flight, and ended ones that are not acknowledged yet. */
  readonly maxConcurrency: number;
  readonly maxConcurrencyPerWebhook: number;
  /** Deliveries in memory per webhook and source. */
  readonly maxWindow: number;
  /** Maximum age of a queued delivery; an older one is given up. */
  readonly deliveryRetentionMs: number;
}

interface DispatcherParts {
  readonly log: Pick<Log, 'append'>;
  readonly queue: DeliveryQueue;
  readonly configuration: Pick<ConfigurationReader, 'version'>;
  readonly directory: WebhookDirectory;
  readonly sendAttempt: SendAttempt;
  readonly disable: Disable;
  /** Epoch ms. */
  readonly clock: () => number;
  /** As of `createSteadyClock`; due times are by it. */
  readonly steadyClock: () => number;
  readonly timers: Timers;
  /** 0 up to 1, as of Math.random. */
  readonly random: () => number;
  /** Delay of each retry. */
  readonly retryDelaysMs: readonly number[];
  readonly metrics: Metrics;
  readonly codecs: Codecs;
  readonly bounds: DispatcherBounds;
  readonly onFailure: (error: unknown) => void;
}

const checkDeletedEveryMs = 1_000;
/** Reads of the queue at once. Each may have a window of large deliveries in memory. */
const maxConcurrentLoads = 8;
/** Endpoints that one step examines for whether they may load now. */
const maxExaminedEndpoints = 100;

/** The sending of all webhooks of a process. */
export class Dispatcher {
  readonly #parts: DispatcherParts;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #ready = new ReadyEndpoints();
  readonly #loaded: LoadedDeliveries;
  /** Endpoints that may load once others have sent, longest waiting first. */
  readonly #waitingToLoad = new Set<Endpoint>();
  readonly #background: Background;
  readonly #healthLoader: HealthLoader;
  readonly #disabled: DisabledEndpoints;
  readonly #acknowledgements: AcknowledgementBatcher;
  readonly #sender: Sender;
  readonly #maxUnhealthy: number;
  #seenVersion = -1;
  readonly #deletionTimer: unknown;
  #slotsInUse = 0;
  #loads = 0;
  #unhealthyInFlight = 0;
  #isClosed = false;

  constructor(parts: DispatcherParts) {
    const { log, queue, codecs, clock, steadyClock, timers, metrics, bounds } = parts;
    const background = new Background(parts.onFailure);
    this.#parts = parts;
    this.#background = background;
    this.#loaded = new LoadedDeliveries(bounds);
    this.#maxUnhealthy = Math.ceil(bounds.maxConcurrency / 2);
    this.#acknowledgements = new AcknowledgementBatcher({
      log,
      codec: codecs.attempt,
      metrics,
      onAcknowledged: (ended) => this.#onAcknowledged(ended),
      background,
    });
    this.#sender = new Sender({ ...parts, acknowledgements: this.#acknowledgements, background });
    this.#healthLoader = new HealthLoader({
      queue,
      codec: codecs.delivery,
      clock,
      onLoaded: (endpoint) => this.#wake(endpoint),
      background,
    });
    this.#disabled = new DisabledEndpoints({
      ...bounds,
      timers,
      clock,
      steadyClock,
      version: () => parts.configuration.version,
      webhookOf: (endpoint) => this.#webhookOf(endpoint),
      onRelease: (endpoint) => this.#wake(endpoint),
      giveUp: (endpoint, webhook, taken) => this.#giveUp(endpoint, webhook, taken),
      acknowledged: () => this.#acknowledgements.flushed(),
      background,
    });
    this.#deletionTimer = timers.repeat(() => this.#wakeDeleted(), checkDeletedEveryMs);
  }

  /** Starts sending the queued deliveries of the source. */
  attach(source: ClaimedSource, waiting: readonly { readonly webhook: string; readonly nextDueAtMs: number }[]): void {
    for (const { webhook, nextDueAtMs } of waiting)
      this.#ready.add(this.#endpointOf(webhook, source, undefined, nextDueAtMs));
    this.#dispatch();
  }

  /** Accepts deliveries that were just added to the source. */
  offer(source: ClaimedSource, deliveries: readonly LoadedDelivery[]): void {
    for (const loaded of deliveries) {
      const { webhook, project, environment } = loaded.delivery;
      const endpoint = this.#endpointOf(webhook, source, { project, environment });
      endpoint.queues.get(source)?.offer(loaded, this.#windowOf(endpoint));
      this.#ready.add(endpoint);
    }
    this.#dispatch();
  }

  /** Starts no more deliveries of the source; those in flight continue. */
  detach(source: ClaimedSource): void {
    for (const endpoint of this.#endpoints.values()) {
      endpoint.leave(source);
      this.#ready.add(endpoint);
    }
    this.#dispatch();
  }

  /** Starts nothing more; resolves when everything in flight has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#healthLoader.close();
    this.#disabled.close();
    this.#parts.timers.clear(this.#deletionTimer);
    for (const { timer } of this.#endpoints.values()) this.#parts.timers.clear(timer);
    await this.#background.idle();
  }

  /** Returns the endpoint, with a queue for the source. */
  #endpointOf(id: string, source: ClaimedSource, scope?: Scope, storedDueAtMs = Number.POSITIVE_INFINITY): Endpoint {
    const known = this.#endpoints.get(id);
    const endpoint = known ?? new Endpoint(id);
    endpoint.scope ??= scope;
    if (!endpoint.queues.has(source)) {
      const { codecs, metrics } = this.#parts;
      const parts = { source, webhook: id, codec: codecs.delivery, loaded: this.#loaded, metrics };
      endpoint.queues.set(source, new EndpointQueue(parts, storedDueAtMs));
    }
    if (known === undefined) {
      this.#endpoints.set(id, endpoint);
      this.#healthLoader.load(endpoint);
    }
    return endpoint;
  }

  /** Wakes endpoints whose webhook was deleted, so that their deliveries are dropped before the next retry is due. */
  #wakeDeleted(): void {
    const { version } = this.#parts.configuration;
    if (version === this.#seenVersion) return;
    this.#seenVersion = version;
    for (const endpoint of this.#endpoints.values()) {
      if (endpoint.scope !== undefined && this.#webhookOf(endpoint) === undefined) this.#ready.add(endpoint);
    }
    this.#dispatch();
  }

  /** Returns the window's size. A failing endpoint loads no more than it may send. */
  #windowOf(endpoint: Endpoint): number {
    return endpoint.isHealthy && this.#loaded.isFew ? this.#parts.bounds.maxWindow : 1;
  }

  #concurrencyOf({ isHealthy }: Endpoint): number {
    return isHealthy ? this.#parts.bounds.maxConcurrencyPerWebhook : 1;
  }

  #webhookOf({ scope, id }: Endpoint): WebhookRecord | undefined {
    return scope && this.#parts.directory.webhook(scope, id);
  }

  #wake(endpoint: Endpoint): void {
    this.#ready.add(endpoint);
    this.#dispatch();
  }

  /** Gives free slots to ready endpoints, one each, until either runs out. */
  #dispatch(): void {
    this.#resumeLoading();
    while (!this.#isClosed && this.#slotsInUse < this.#parts.bounds.maxConcurrency) {
      const endpoint = this.#ready.next(this.#unhealthyInFlight < this.#maxUnhealthy);
      if (endpoint === undefined) return;
      this.#process(endpoint);
    }
  }

  /** Readies endpoints that wait to load, if their projects may load by now. */
  #resumeLoading(): void {
    let left = Math.min(this.#waitingToLoad.size, maxExaminedEndpoints);
    for (const endpoint of this.#waitingToLoad) {
      if (left-- === 0 || this.#loads === maxConcurrentLoads) return;
      this.#waitingToLoad.delete(endpoint);
      if (this.#mayLoad(endpoint)) this.#ready.add(endpoint);
      else this.#waitingToLoad.add(endpoint);
    }
  }

  #mayLoad({ scope }: Endpoint): boolean {
    return this.#loads < maxConcurrentLoads && scope !== undefined && this.#loaded.hasRoom(scope.project);
  }

  /** Takes one step for one endpoint. */
  #process(endpoint: Endpoint): void {
    const { health, scope } = endpoint;
    // The endpoint is woken when its health is loaded.
    if (health === undefined) return;
    const webhook = this.#webhookOf(endpoint);
    const nowMs = this.#parts.steadyClock();
    if (endpoint.isIdle || scope === undefined) this.#remove(endpoint);
    else if (webhook === undefined) this.#dropAll(endpoint);
    else if (isDisabled(webhook, health)) this.#disabled.add(endpoint);
    else if (nowMs < health.pausedUntilMs) this.#pause(endpoint, health.pausedUntilMs, nowMs);
    else if (endpoint.inFlight < this.#concurrencyOf(endpoint)) this.#sendNext(endpoint, webhook, nowMs);
  }

  /** Keeps nothing in memory that is not sent soon. */
  #pause(endpoint: Endpoint, untilMs: number, nowMs: number): void {
    endpoint.release(0);
    this.#wakeAt(endpoint, untilMs, nowMs);
  }

  /** Sends one request, loads more deliveries, or sets a timer for the next that is due. */
  #sendNext(endpoint: Endpoint, webhook: WebhookRecord, nowMs: number): void {
    const taken = endpoint.take();
    if (taken === undefined) {
      this.#load(endpoint, nowMs);
      return;
    }
    const { clock, bounds } = this.#parts;
    const isTooOld = taken.loaded.delivery.createdAt <= clock() - bounds.deliveryRetentionMs;
    if (isTooOld) this.#giveUp(endpoint, webhook, taken);
    else this.#send(endpoint, webhook, taken);
    this.#ready.add(endpoint);
  }

  #load(endpoint: Endpoint, nowMs: number): void {
    const maxWindow = this.#windowOf(endpoint);
    for (const queue of endpoint.queues.values()) {
      if (queue.isLoading || queue.storedDueAtMs > nowMs || !queue.hasRoom(maxWindow)) continue;
      if (this.#mayLoad(endpoint)) this.#background.run(this.#loadQueue(endpoint, queue, maxWindow, nowMs));
      else this.#waitingToLoad.add(endpoint);
    }
    const { storedDueAtMs } = endpoint;
    if (storedDueAtMs > nowMs && storedDueAtMs < Number.POSITIVE_INFINITY) this.#wakeAt(endpoint, storedDueAtMs, nowMs);
  }

  async #loadQueue(endpoint: Endpoint, queue: EndpointQueue, maxWindow: number, nowMs: number): Promise<void> {
    this.#loads += 1;
    await queue.load(maxWindow, nowMs);
    this.#loads -= 1;
    this.#wake(endpoint);
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
    const { orderKey } = taken.loaded.delivery;
    const unhealthy = endpoint.isHealthy ? 0 : 1;
    this.#begin(taken);
    this.#unhealthyInFlight += unhealthy;
    endpoint.inFlight += 1;
    endpoint.busyKeys.add(orderKey);
    const ended = (): void => {
      endpoint.inFlight -= 1;
      endpoint.busyKeys.delete(orderKey);
      this.#unhealthyInFlight -= unhealthy;
      this.#wake(endpoint);
    };
    this.#background.run(this.#sender.send(endpoint, webhook, taken).then(ended));
  }

  #giveUp(endpoint: Endpoint, webhook: WebhookRecord, taken: TakenDelivery): void {
    this.#begin(taken);
    this.#sender.giveUp(endpoint, webhook, taken);
  }

  #begin({ queue, loaded }: TakenDelivery): void {
    this.#slotsInUse += 1;
    this.#loaded.add(loaded.delivery);
    queue.source.begin();
  }

  #onAcknowledged(ended: readonly EndedDelivery[]): void {
    this.#slotsInUse -= ended.length;
    for (const { endpoint, loaded } of ended) {
      this.#loaded.remove(loaded.delivery);
      this.#ready.add(endpoint);
    }
    this.#dispatch();
  }

  /** Drops the deliveries of a deleted webhook. */
  #dropAll(endpoint: Endpoint): void {
    for (const source of [...endpoint.queues.keys()]) {
      endpoint.leave(source);
      source.begin();
      this.#background.run(source.drop(endpoint.id).then(() => source.end()));
    }
    this.#remove(endpoint);
  }

  #remove(endpoint: Endpoint): void {
    this.#parts.timers.clear(endpoint.timer);
    this.#waitingToLoad.delete(endpoint);
    if (this.#endpoints.get(endpoint.id) === endpoint) this.#endpoints.delete(endpoint.id);
  }
}
