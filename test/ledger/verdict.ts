/** Compares a disturbed run with an undisturbed one of the same workload. */
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
  /** Whether the event log may repeat an event with the same id and bytes. */
  readonly repeatsInLog: boolean;
  /**
   * Whether the queue may lose a delivery and create it again. It then has the same event and the user's newer state.
   * Default no.
   */
  readonly deliveriesCreatedAgain?: boolean;
  /** Default none. */
  readonly deadLetters?: readonly string[];
}

/** Returns the promises that were broken. */
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

/** Returns the promises that a run breaks by itself, without a comparison. */
export function brokenByItself({ ledger, receiver }: Run, promised: Promised): string[] {
  const { repeatsInLog, deliveriesCreatedAgain = false, deadLetters = [] } = promised;
  const { loggedIds, changedIds, storedIds, unanswered } = ledger;
  const unansweredIds = new Set(unanswered.map(({ deliveryId }) => deliveryId));
  return [
    ...(repeatsInLog ? [] : repeated('ids in the event log', loggedIds)),
    ...differences('events of the log with other bytes on a later copy', [], changedIds),
    ...differences('ids of the event log in ClickHouse', [...new Set(loggedIds)], storedIds),
    ...differences('dead letters', deadLetters, ledger.deadLetters),
    ...deliveryProblems(receiver, loggedIds, unansweredIds, deliveriesCreatedAgain),
  ];
}

/** Returns one line per location, as {@link Ledger.locations} has them when all were applied once. */
export const everyLocationOnce = ({ devices }: Workload): string[] =>
  devices.flat().map(({ deviceId, updatedAtMs }) => `${deviceId} ${new Date(updatedAtMs).toISOString()} applied 1`);
