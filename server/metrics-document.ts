/**
 * Generates docs/metrics.md from the metrics that a running node exposes. test/deploy/monitoring.test.ts writes it with
 * `npx vitest run test/deploy/monitoring --update`.
 */
import { clusterMetrics, serviceMetrics } from './metrics.js';

const head = `# Metrics

All metrics of Fenceline at \`/metrics\`, generated from a running node. Times are in seconds and sizes in bytes, as
Prometheus recommends. The default metrics of Node (\`process_…\`, \`nodejs_…\`) are included.
[\`deploy/grafana/fenceline.json\`](../deploy/grafana/fenceline.json) shows them, and the [runbook](runbook.md) explains
the alerts on them.

| metric | type | meaning |
|---|---|---|
`;

/** Returns the whole document, Markdown, for the Prometheus text of an embedded node. */
export function metricsDocument(exposed: string): string {
  const embedded = [...exposed.matchAll(/^# HELP (fenceline_\w+) (.+)\n# TYPE \w+ (\w+)$/gm)].map(
    ([, name, help, type]) => ({ name: name as string, help: help as string, type: type as string }),
  );
  const cluster = Object.entries({ ...clusterMetrics, ...serviceMetrics }).map(([name, { kind, help }]) => ({
    name: `fenceline_${name}`,
    help: `${help} Only in a cluster.`,
    type: kind,
  }));
  const rows = [...embedded, ...cluster].toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return head + rows.map(({ name, help, type }) => `| \`${name}\` | ${type} | ${help} |\n`).join('');
}
