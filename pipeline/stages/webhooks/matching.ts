/**
 * Finds the webhooks that want an event.
 *
 * Input: the webhooks of a project and environment. Output: for a type and a tag, the webhooks that want it. The cost
 * is proportional to the matches, not to the number of webhooks.
 */
import { createBoundedCache } from '../../../schemas/bounded-cache.js';
import { addTo } from '../../../schemas/groups.js';
import type { WebhookRecord } from '../../../schemas/json/webhook.js';
import type { Event } from '../../../schemas/records.js';
import type { ConfigurationReader, Scope } from '../../catalog/types.js';
import { scopeName } from '../../records/device-key.js';

/** Fields of an event by which webhooks filter. */
export interface Matchable {
  readonly type: string;
  /** Tag of the geofence or beacon. */
  readonly tag: string | null;
}

/** Returns what webhooks select events by: the type, and the tag of the geofence or beacon. */
export const matchableOf = ({ type, geofence, beacon }: Event): Matchable => ({
  type,
  tag: (geofence ?? beacon)?.tag ?? null,
});

/** Returns the enabled webhooks that want the event, each once, in no order. */
export type Matcher = (event: Matchable) => readonly WebhookRecord[];

const none: readonly WebhookRecord[] = [];

/** Webhooks indexed by the event types they want. */
class TypeIndex {
  readonly #ofAllTypes: WebhookRecord[] = [];
  readonly #byType = new Map<string, WebhookRecord[]>();

  add(webhook: WebhookRecord): void {
    if (webhook.types === null) this.#ofAllTypes.push(webhook);
    for (const type of new Set(webhook.types)) addTo(this.#byType, type, webhook);
  }

  wanting(type: string): readonly WebhookRecord[] {
    return joined(this.#ofAllTypes, this.#byType.get(type) ?? none);
  }
}

const joined = (a: readonly WebhookRecord[], b: readonly WebhookRecord[]): readonly WebhookRecord[] => {
  if (a.length === 0) return b;
  return b.length === 0 ? a : [...a, ...b];
};

/** Creates a matcher; undefined when no webhook of the list is enabled. */
export function createMatcher(webhooks: readonly WebhookRecord[]): Matcher | undefined {
  const enabled = webhooks.filter((webhook) => webhook.enabled);
  if (enabled.length === 0) return undefined;
  const ofAnyTag = new TypeIndex();
  const byTag = new Map<string, TypeIndex>();
  for (const webhook of enabled) {
    if (webhook.tags === null) ofAnyTag.add(webhook);
    for (const tag of new Set(webhook.tags)) {
      const index = byTag.get(tag) ?? new TypeIndex();
      byTag.set(tag, index);
      index.add(webhook);
    }
  }
  return ({ type, tag }) =>
    joined(ofAnyTag.wanting(type), (tag === null ? undefined : byTag.get(tag))?.wanting(type) ?? none);
}

/** The webhooks of one project and environment, indexed. */
interface ScopeWebhooks {
  readonly list: readonly WebhookRecord[];
  readonly byId: ReadonlyMap<string, WebhookRecord>;
  readonly matcher: Matcher | undefined;
}

const maxScopes = 10_000;

type WebhookConfiguration = Pick<ConfigurationReader, 'webhooks' | 'project'>;

/**
 * The current webhooks, indexed per project and environment. An index is valid until a webhook changes. A deleted
 * project has none, although their records stay until the eraser comes to them, which waits for other erasures.
 */
export class WebhookDirectory {
  readonly #configuration: WebhookConfiguration;
  readonly #scopes = createBoundedCache<string, ScopeWebhooks>(maxScopes);

  constructor(configuration: WebhookConfiguration) {
    this.#configuration = configuration;
  }

  /** Returns the webhook as it is now; undefined if it is deleted. */
  webhook(scope: Scope, id: string): WebhookRecord | undefined {
    return this.#of(scope).byId.get(id);
  }

  /** Returns undefined when no webhook is enabled. */
  matcher(scope: Scope): Matcher | undefined {
    return this.#of(scope).matcher;
  }

  #of(scope: Scope): ScopeWebhooks {
    const name = scopeName(scope);
    const isDeleted = this.#configuration.project(scope.project) === undefined;
    const list = isDeleted ? none : this.#configuration.webhooks(scope);
    const known = this.#scopes.get(name);
    if (known?.list === list) return known;
    const byId = new Map(list.map((webhook) => [webhook._id, webhook]));
    const found = { list, byId, matcher: createMatcher(list) };
    this.#scopes.set(name, found);
    return found;
  }
}
