/** A node of a cluster exposes every metric and label that the dashboard and the alerts use. */
import { expect, it } from 'vitest';
import {
  alertQueries,
  dashboardQueries,
  isPrometheusMissing,
  labelsOf,
  textOf,
  unanswered,
  unknownIn,
} from '../deploy/monitoring.js';
import { SharedServer } from '../support/shared-server.js';

it('exposes what the dashboard and the alerts use', async () => {
  const labels = labelsOf(await textOf(await SharedServer.newProject()));
  expect([...dashboardQueries, ...alertQueries].flatMap((query) => unknownIn(query, labels))).toEqual([]);
});

it.skipIf(isPrometheusMissing)('answers all queries and alerts in Prometheus', async () => {
  expect(await unanswered(await SharedServer.newProject(), () => true)).toEqual([]);
});
