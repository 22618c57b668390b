/**
 * The dashboard and the alerts use metrics that a node exposes, and lie where Prometheus and Grafana look for them.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import type { MetricDefinition } from '../../schemas/metric-definition.js';
import { clusterMetrics, serviceMetrics } from '../../server/metrics.js';
import { metricsDocument } from '../../server/metrics-document.js';
import { SharedServer } from '../support/shared-server.js';
import { compose, nodes, readRepositoryFile, repositoryFile } from './compose.js';
import {
  alertQueries,
  alerts,
  dashboard,
  dashboardQueries,
  graphs,
  isPrometheusMissing,
  type Labels,
  labelsOf,
  metricsIn,
  prometheusConfiguration,
  type Query,
  textOf,
  unanswered,
  unknownIn,
} from './monitoring.js';

let server: SharedServer;
let text: string;
let labels: Labels;
beforeAll(async () => {
  server = await SharedServer.newProject();
  text = await textOf(server);
  const ofClusters = Object.entries({ ...clusterMetrics, ...serviceMetrics }).map(
    ([name, { kind }]) => `# TYPE fenceline_${name} ${kind}\n`,
  );
  labels = labelsOf(text + ofClusters.join(''));
});

describe('the dashboard', () => {
  it('has variables, and begins with a summary that has thresholds', () => {
    expect(dashboard.templating.list.map(({ name }) => name)).toEqual(['role', 'instance']);
    const [first, ...others] = dashboard.panels;
    expect(first).toMatchObject({ type: 'row', title: 'Summary' });
    const summary = others.slice(
      0,
      others.findIndex(({ type }) => type === 'row'),
    );
    expect(summary.length).toBeGreaterThan(6);
    for (const { type, fieldConfig } of summary)
      expect([type, fieldConfig?.defaults.thresholds?.steps.length]).toEqual(['stat', expect.any(Number)]);
  });

  it('uses only metrics and labels that a node exposes', () => {
    expect(dashboardQueries.length).toBeGreaterThan(30);
    expect(dashboardQueries.flatMap((query) => unknownIn(query, labels))).toEqual([]);
  });

  it('shows every metric of Fenceline that reports problems or throughput', () => {
    const text = JSON.stringify(graphs);
    const ours = [...labels.keys()]
      .filter((name) => name.startsWith('fenceline_'))
      .map((name) => name.replace(/_(bucket|count|sum)$/, ''));
    // Clients cause these, so operators cannot act on them.
    const notShown = ['fenceline_client_log_lines_total', 'fenceline_conversions_accepted_total'];
    expect(ours.filter((name) => !text.includes(name) && !notShown.includes(name))).toEqual([]);
  });

  it('places its panels without overlap, each with a unique title and id', () => {
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) => {
      expect(x + w).toBeLessThanOrEqual(24);
      return Array.from({ length: w * h }, (_, index) => `${x + (index % w)}/${y + Math.floor(index / w)}`);
    });
    expect(new Set(cells).size).toBe(cells.length);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    for (const { title, targets = [] } of graphs) {
      expect(title).not.toBe('');
      expect(targets).not.toEqual([]);
    }
  });

  it('is provisioned in Grafana with its data source', () => {
    const [source] = parse(readRepositoryFile('deploy/grafana/provisioning/datasources/prometheus.yml')).datasources;
    const uids = graphs.flatMap(({ targets = [] }) => targets.map(({ datasource }) => datasource.uid));
    expect(new Set(uids)).toEqual(new Set([source.uid]));
    expect(compose.services).toHaveProperty([new URL(source.url).hostname]);
    const [provider] = parse(readRepositoryFile('deploy/grafana/provisioning/dashboards/fenceline.yml')).providers;
    const { volumes, environment } = compose.services.grafana!;
    expect(volumes).toContain(`./deploy/grafana/fenceline.json:${provider.options.path}/fenceline.json:ro`);
    expect(environment?.GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH).toBe(`${provider.options.path}/fenceline.json`);
  });
});

describe('the metrics', () => {
  it('are those of docs/metrics.md', async () => {
    await expect(metricsDocument(text)).toMatchFileSnapshot(repositoryFile('docs/metrics.md').pathname);
  });

  it('end with a base unit, and only counters with total', () => {
    const types = [...text.matchAll(/^# TYPE (\w+) (\w+)$/gm)].map(([, name, type]) => ({ name, type }));
    expect(types.filter(({ name, type }) => (type === 'counter') !== /_total$/.test(name as string))).toEqual([]);
    expect(types.filter(({ name }) => /_(ms|milliseconds|minutes|kb|mb)(_|$)/.test(name as string))).toEqual([]);
  });
});

/** Returns the `for` of an alert in words. */
const delayOf = (duration: string | undefined): string =>
  duration === undefined ? 'at once' : `after ${Number.parseInt(duration, 10)} minute${duration === '1m' ? '' : 's'}`;

describe('the alerts', () => {
  it('use only metrics and labels that a node exposes', () => {
    expect(alertQueries.flatMap((query) => unknownIn(query, labels))).toEqual([]);
  });

  it('compare quantiles with the bound of a bucket, between which Prometheus only guesses', () => {
    const buckets: Readonly<Record<string, MetricDefinition>> = { ...stageMetrics, ...serviceMetrics };
    const compared = alerts.flatMap(({ alert, expr }) => {
      const [, metric, thresholdS] =
        /^histogram_quantile\(.*fenceline_(\w+)_bucket.*> ([\d.]+)$/s.exec(expr.trim()) ?? [];
      return metric === undefined ? [] : [{ alert, isBound: buckets[metric]?.buckets?.includes(Number(thresholdS)) }];
    });
    expect(compared.length).toBe(alerts.filter(({ expr }) => expr.includes('histogram_quantile')).length);
    expect(compared.filter(({ isBound }) => !isBound)).toEqual([]);
  });

  it('are exactly those of the runbook, which says for each what to do', () => {
    const [, ...sections] = readRepositoryFile('docs/runbook.md').split(/^## /m);
    expect(sections.map((section) => section.split('\n')[0])).toEqual(alerts.map(({ alert }) => alert));
    for (const section of sections)
      for (const part of ['Meaning', 'How to confirm', 'What to do']) expect(section).toContain(`- **${part}:** `);
    expect(sections.map((section) => section.split('\n')[2])).toEqual(
      alerts.map(({ labels: { severity }, for: duration }) => `Severity: ${severity}. Raised ${delayOf(duration)}.`),
    );
  });

  it('have a severity, a summary, a description and the section of the runbook', () => {
    for (const { alert, labels, annotations } of alerts) {
      expect(['critical', 'warning'], alert).toContain(labels.severity);
      expect(annotations.runbook_url, alert).toBe(`docs/runbook.md#${alert.toLowerCase()}`);
      expect(
        [annotations.summary, annotations.description].every((each) => each.length > 10),
        alert,
      ).toBe(true);
    }
  });
});

describe('Prometheus', () => {
  it.skipIf(isPrometheusMissing)(
    'answers all queries and alerts that an embedded node has the metrics for',
    async () => {
      const ofClusters = Object.keys({ ...clusterMetrics, ...serviceMetrics });
      const isExposed = (query: Query) =>
        !metricsIn(query).some((metric) => ofClusters.some((name) => metric.startsWith(`fenceline_${name}`)));
      expect(await unanswered(server, isExposed)).toEqual([]);
    },
  );

  it('scrapes every role at the port of the image', () => {
    const [{ dns_sd_configs }] = prometheusConfiguration.scrape_configs;
    expect(dns_sd_configs[0].names.toSorted()).toEqual(nodes.map(([name]) => name).toSorted());
    expect(readRepositoryFile('Dockerfile')).toContain(`EXPOSE ${dns_sd_configs[0].port}\n`);
  });
});
