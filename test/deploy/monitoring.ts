/**
 * What deploy/ asks Prometheus, the queries of the dashboard and the alerts, and whether the metrics of a node can
 * answer it.
 */
import { expect } from 'vitest';
import { parse, stringify } from 'yaml';
import { sdkMetrics } from '../../api/sdk/dependencies.js';
import { ingestMetrics } from '../../ingest/metrics.js';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { apiMetrics, clusterMetrics, serviceMetrics } from '../../server/metrics.js';
import { type PrometheusServer, prometheus, startPrometheus } from '../../testing/services/prometheus.js';
import { isHere } from '../../testing/services/provider.js';
import { until } from '../../testing/until.js';
import { ok } from '../support/client.js';
import { circle, standing } from '../support/places.js';
import type { SharedServer } from '../support/shared-server.js';
import { readRepositoryFile } from './compose.js';

export interface Panel {
  readonly id: number;
  readonly type: string;
  readonly title: string;
  readonly fieldConfig?: { readonly defaults: { readonly thresholds?: { readonly steps: readonly object[] } } };
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly {
    readonly expr: string;
    readonly legendFormat?: string;
    readonly datasource: { readonly uid: string };
  }[];
}

export interface Alert {
  readonly alert: string;
  readonly expr: string;
  /** Absent: raised at once. */
  readonly for?: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

export const dashboard = JSON.parse(readRepositoryFile('deploy/grafana/fenceline.json')) as {
  readonly uid: string;
  readonly title: string;
  readonly panels: readonly Panel[];
  readonly templating: {
    readonly list: readonly { readonly name: string; readonly query: { readonly query: string } }[];
  };
};
export const graphs = dashboard.panels.filter(({ type }) => type === 'timeseries' || type === 'stat');
const rulesText = readRepositoryFile('deploy/prometheus/alerts.yml');
export const alerts: readonly Alert[] = parse(rulesText).groups.flatMap(({ rules }: { rules: Alert[] }) => rules);
export const prometheusConfiguration = parse(readRepositoryFile('deploy/prometheus/prometheus.yml'));

/** An expression, and the texts that name labels of its results. */
export interface Query {
  readonly from: string;
  readonly expression: string;
  readonly texts: readonly string[];
}

/** Replaces the variables of an expression as Grafana does where all roles and processes are chosen. */
const withVariables = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$(role|instance)\b/g, '.*');

const variableQueries: readonly Query[] = dashboard.templating.list.map(({ name, query }) => {
  const [, expression = '', label = ''] = /^label_values\((.*), (\w+)\)$/.exec(query.query) ?? [];
  return { from: `variable ${name}`, expression: withVariables(expression), texts: [label] };
});
export const dashboardQueries: readonly Query[] = [
  ...variableQueries,
  ...graphs.flatMap(({ title, targets = [] }) =>
    targets.map(({ expr, legendFormat = '' }) => ({
      from: title,
      expression: withVariables(expr),
      texts: [...legendFormat.matchAll(/{{(\w+)}}/g)].map(([, label]) => label as string),
    })),
  ),
];
export const alertQueries: readonly Query[] = alerts.map(({ alert, expr, annotations }) => ({
  from: alert,
  expression: expr,
  texts: [...JSON.stringify(annotations).matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label as string),
}));

/** Tests are skipped without Prometheus. CI requires it once it has fetched the services. */
export const isPrometheusMissing = process.env.TEST_PROMETHEUS !== 'required' && !isHere(prometheus);

/** The labels of each metric by name, of a node as Prometheus stores it. */
export type Labels = ReadonlyMap<string, ReadonlySet<string>>;

/** Prometheus and its configuration add these to every series. */
const ofTarget = ['instance', 'job', 'role'];

/** Metrics without a series until their event happens, such as dead letters, have the labels that the code declares. */
const declared: Readonly<
  Record<string, { readonly kind: string; readonly label?: string; readonly labels?: readonly string[] }>
> = {
  ...stageMetrics,
  ...ingestMetrics,
  ...apiMetrics,
  ...sdkMetrics,
  ...clusterMetrics,
  ...serviceMetrics,
};

/** Reads the labels of all metrics in the Prometheus text of a node. */
export function labelsOf(text: string): Labels {
  const labels = new Map<string, Set<string>>([['up', new Set(ofTarget)]]);
  const add = (name: string, names: readonly string[]): void => {
    labels.set(name, new Set([...(labels.get(name) ?? ofTarget), ...names]));
  };
  for (const [, metric = '', type] of text.matchAll(/^# TYPE (\w+) (\w+)$/gm)) {
    const { label, labels: several = [] } = declared[metric.replace(/^fenceline_/, '')] ?? {};
    const names = label === undefined ? several : [label];
    if (type !== 'histogram') add(metric, names);
    else {
      add(`${metric}_bucket`, [...names, 'le']);
      for (const suffix of ['count', 'sum']) add(`${metric}_${suffix}`, names);
    }
  }
  for (const [, metric = '', inBraces = ''] of text.matchAll(/^(\w+){(.*)} \S+$/gm))
    add(
      metric,
      [...inBraces.matchAll(/(?:^|,)(\w+)="/g)].map(([, label]) => label as string),
    );
  return labels;
}

const selector = /\b((?:fenceline|nodejs|process)_\w+|up\b)(?:{([^}]*)})?/g;

/** Returns the names of the metrics that a query reads, each as often as it does. */
export const metricsIn = ({ expression }: Query): string[] =>
  [...expression.matchAll(selector)].map(([, metric]) => metric as string);

/** Returns the metrics and labels of a query that no node exposes, each with the query. */
export function unknownIn(query: Query, labels: Labels): string[] {
  const { from, expression, texts } = query;
  const selectors = [...expression.matchAll(selector)].map(([, metric = '', matchers = '']) => ({
    metric,
    matched: [...matchers.matchAll(/(\w+)\s*(?:!~|=~|!=|=)/g)].map(([, label]) => label as string),
  }));
  if (selectors.length === 0) return [`${from}: ${expression} has no metric`];
  const grouped = [...expression.matchAll(/\bby \(([^)]*)\)/g)].map(([, names = '']) => names.split(/,\s*/));
  // A quantile drops `le`; an aggregation drops all labels but its own.
  const ofResult = new Set(grouped.flat());
  const isAggregated = /\b(sum|max|count)\b/.test(expression);
  return selectors.flatMap(({ metric, matched }) => {
    const known = labels.get(metric);
    if (known === undefined) return [`${from}: no node exposes ${metric}`];
    const used = [...matched, ...grouped.flat(), ...(isAggregated ? [] : texts)];
    return [
      ...used.filter((label) => !known.has(label)).map((label) => `${from}: ${metric} has no label ${label}`),
      ...(isAggregated ? texts.filter((label) => !ofResult.has(label)) : []).map(
        (label) => `${from}: the result has no label ${label}`,
      ),
    ];
  });
}

/** Returns what a node answers to Prometheus. */
export const textOf = async ({ address }: SharedServer): Promise<string> => (await fetch(`${address}/metrics`)).text();

/** Starts Prometheus as deploy/ configures it, and resolves when it has scraped a node several times. */
async function prometheusOn(address: string): Promise<PrometheusServer> {
  const [job] = prometheusConfiguration.scrape_configs;
  const { dns_sd_configs, ...others } = job;
  const [role] = dns_sd_configs[0].names;
  // In Compose the name of the service becomes the role.
  const target = { targets: [new URL(address).host], labels: { __meta_dns_name: role } };
  const configuration = {
    ...prometheusConfiguration,
    // A scrape may take as long as the interval, on a busy machine too.
    global: { scrape_interval: '3s', evaluation_interval: '1s' },
    scrape_configs: [{ ...others, static_configs: [target] }],
  };
  const server = await startPrometheus({ 'prometheus.yml': stringify(configuration), 'alerts.yml': rulesText });
  await until(async () => {
    const [scrapes] = await server.query(`sum_over_time(up{job="fenceline", role="${role}"}[1m])`);
    const rules = await server.rules();
    return Number(scrapes?.value[1]) >= 3 && rules.every(({ health }) => health !== 'unknown');
  });
  return server;
}

/**
 * Returns an alert without its thresholds, so that it has a result whenever its metrics have series that match each
 * other.
 */
function withoutThresholds({ expression, ...query }: Query): Query {
  const compared = expression
    .replaceAll(/ (>|<|==) /g, ' $1 bool ')
    .replaceAll(' unless ', ' and ')
    // No request failed.
    .replaceAll('status=~"5.."', 'status=~"..."')
    // Prometheus has run for seconds only.
    .replaceAll(/:\d+s\]/g, ':1s]');
  return { ...query, expression: compared };
}

/** Gives a node a bit of everything to do, so that its metrics have series. */
async function makeTraffic(server: SharedServer): Promise<void> {
  const backend = server.as('test_secret');
  await backend.putGeofence('gate', circle(0, 0, 100));
  ok(await backend.post('/v1/webhooks', { url: 'https://receiver.invalid/hook' }));
  await backend.track({ deviceId: 'ship', ...standing(0, 0) });
  // In a cluster each node evaluates some of them.
  const fleet = Array.from({ length: 200 }, (_, index) => ({ deviceId: `ship-${index}`, ...standing(0, 0) }));
  ok(await backend.bulk(fleet.map((location) => ({ ...location, accuracy: 5 }))));
  const rejected = await backend.post('/v1/track', { deviceId: 'ship', latitude: 91, longitude: 0, accuracy: 5 });
  const map = await backend.get('/maps/static?center=50,10&zoom=8&width=100&height=100');
  const dock = { tag: 'test', externalId: 'dock', description: 'Dock', ...circle(0, 1, 100) };
  const headers = { 'content-type': 'application/x-ndjson' };
  const imported = await backend.send('POST', '/v1/geofences/import', { body: JSON.stringify(dock), headers });
  expect([rejected.status, map.status, imported.status]).toEqual([400, 200, 200]);
}

/** Series of these appear when something fails, at night, or with the first mail. */
const ofFailures = [
  'fenceline_dead_letters_total',
  'fenceline_dependency_refusals_total',
  'fenceline_ingest_overloaded_total',
  'fenceline_mails_total',
  'fenceline_partitions_diverged',
  'fenceline_partitions_halted_total',
  'fenceline_records_expired_total',
  'fenceline_service_request_errors_total',
  'fenceline_sync_runs_total',
  'fenceline_webhooks_disabled_total',
];

/**
 * Runs all queries and alerts in a Prometheus that scrapes a node, and returns those that fail or have no result, each
 * with the reason. Left out are those on metrics that the node does not have, and on failures that did not happen.
 */
export async function unanswered(server: SharedServer, isExposed: (query: Query) => boolean): Promise<string[]> {
  await makeTraffic(server);
  const queries = [...dashboardQueries, ...alertQueries.map(withoutThresholds)].filter(isExposed);
  const lacking = async (): Promise<string[]> => {
    const text = await textOf(server);
    const names = new Set(queries.flatMap(metricsIn).filter((name) => name !== 'up'));
    return [...names].filter((name) => !new RegExp(`^${name}[ {]`, 'm').test(text));
  };
  let absent: string[] = [];
  await until(
    async () => {
      absent = await lacking();
      return absent.every((name) => ofFailures.includes(name));
    },
    { describe: () => `series of ${absent}` },
  );
  const running = await prometheusOn(server.address);
  try {
    const faulty = (await running.rules()).filter(({ health }) => health !== 'ok');
    const outcomes = queries.map(async (query) => {
      const result = await running.query(query.expression).catch((error: Error) => error);
      if (result instanceof Error) return [`${query.from}: ${result.message}`];
      const mustAnswer = !metricsIn(query).some((name) => absent.includes(name));
      return result.length === 0 && mustAnswer ? [`${query.from}: ${query.expression} has no result`] : [];
    });
    return [...faulty.map(({ name, lastError }) => `${name}: ${lastError}`), ...(await Promise.all(outcomes)).flat()];
  } finally {
    await running.stop();
  }
}
