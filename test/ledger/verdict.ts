/** A disturbed run held against an undisturbed one of the same workload. */
import type { Receiver } from '../../testing/receiver.js';
import { deliveryProblems } from './deliveries.js';
import { differences, repeated } from './differences.js';
import type { Ledger } from './ledger.js';
import type { Workload } from './workload.js';

export interface Run {
  readonly ledger: Ledger;
  readonly receiver: Receiver;
}

export interface Promised {
  /** May the event log hold an event more than once, under the same id and with the same bytes? */
  readonly repeatsInLog: boolean;
  /**
   * May a delivery that the queue forgot be made anew? It tells of the same event then, and of the user as of then.
   * Default no.
   */
  readonly deliveriesMadeAnew?: boolean;
  /** Default none. */
  readonly deadLetters?: readonly string[];
}

/** What of the promises was not kept; empty when all were. */
export function brokenPromises(
  workload: Workload,
  undisturbed: Ledger,
  { ledger, receiver }: Run,
  promised: Promised,
): string[] {
  const { locations, events, states } = ledger;
  return [
    ...differences('locations', everyLocationOnce(workload), locations),
    ...differences('events', undisturbed.events, events),
    ...differences('states', undisturbed.states, states),
    ...brokenByItself({ ledger, receiver }, promised),
  ];
}

/** The same, without another run to hold it against. */
export function brokenByItself({ ledger, receiver }: Run, promised: Promised): string[] {
  const { repeatsInLog, deliveriesMadeAnew = false, deadLetters = [] } = promised;
  const { loggedIds, changedIds, storedIds } = ledger;
  return [
    ...(repeatsInLog ? [] : repeated('ids in the event log', loggedIds)),
    ...differences('events of the log with other bytes on a later copy', [], changedIds),
    ...differences('ids of the event log in ClickHouse', [...new Set(loggedIds)], storedIds),
    ...differences('dead letters', deadLetters, ledger.deadLetters),
    ...deliveryProblems(receiver, loggedIds, deliveriesMadeAnew),
  ];
}

/** One line per location, as {@link Ledger.locations}. */
export const everyLocationOnce = ({ devices }: Workload): string[] =>
  devices.flat().map(({ deviceId, updatedAtMs }) => `${deviceId} ${new Date(updatedAtMs).toISOString()} applied 1`);
