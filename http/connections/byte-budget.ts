/**
 * Counts the bytes that a node keeps in memory for its clients: bodies that are not answered yet, or answers that are
 * not sent yet.
 *
 * All clients together may use the whole budget. Each may use a part of it, so one does not use up the memory of all. A
 * client is an address, or a /64 of IPv6. A single request is admitted whatever its size while nothing else is counted,
 * because its own limit bounds it.
 */
import { clientOf } from '../location/address.js';

interface ByteBudget {
  /** Returns whether `bytes` more fit. `own`: what the same request already uses. */
  fits(address: string, bytes: number, own?: number): boolean;
  add(address: string, bytes: number): void;
  remove(address: string, bytes: number): void;
}

/** Clients that can use their whole part at the same time. */
const clientsAtOnce = 4;

/** Creates a budget of `maxBytes`. A client may use a quarter of it. */
export function createByteBudget(maxBytes: number): ByteBudget {
  const usedBy = new Map<string, number>();
  let used = 0;
  const isWithin = (usedBytes: number, bytes: number, own: number, most: number): boolean =>
    usedBytes === own || usedBytes + bytes <= most;
  return {
    fits: (address, bytes, own = 0) =>
      isWithin(used, bytes, own, maxBytes) &&
      isWithin(usedBy.get(clientOf(address)) ?? 0, bytes, own, maxBytes / clientsAtOnce),
    add(address, bytes) {
      const client = clientOf(address);
      used += bytes;
      usedBy.set(client, (usedBy.get(client) ?? 0) + bytes);
    },
    remove(address, bytes) {
      const client = clientOf(address);
      used -= bytes;
      const left = usedBy.get(client)! - bytes;
      if (left > 0) usedBy.set(client, left);
      else usedBy.delete(client);
    },
  };
}
