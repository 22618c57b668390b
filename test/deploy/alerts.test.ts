/**
 * Each alert is raised by what its section of the runbook describes, and by nothing else. promtool runs the rules over
 * an hour and a half of series: those of a node in order, some of them replaced.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import { stageMetrics } from '../../pipeline/stages/metrics.js';
import { serviceMetrics } from '../../server/metrics.js';
import { repositoryFile } from './compose.js';
import { alerts } from './monitoring.js';

const isPromtoolMissing =
  process.env.TEST_PROMETHEUS !== 'required' && spawnSync('promtool', ['--version']).error !== undefined;

/** Values of a series by promtool's notation, by the series. There are 180 after the first, one in half a minute. */
type Series = Readonly<Record<string, string>>;

const node = 'job="fenceline",instance="a",role="pipeline"';
const constant = (value: number): string => `${value}x180`;
const growing = (step: number): string => `0+${step}x180`;
/** A counter that appears after 75 minutes. */
const appearing = '_x149 1x30';

const histograms = { ...stageMetrics, ...serviceMetrics };
type Histogram = {
  [Name in keyof typeof histograms]: (typeof histograms)[Name]['kind'] extends 'histogram' ? Name : never;
}[keyof typeof histograms];

/** Returns the buckets of a histogram whose observations are all in the one after `aboveS`. */
const histogram = (name: Histogram, aboveS: number, labels = ''): Series =>
  Object.fromEntries(
    [...histograms[name].buckets, '+Inf'].map((le) => [
      `fenceline_${name}_bucket{${node}${labels},le="${le}"}`,
      typeof le === 'number' && le <= aboveS ? constant(0) : growing(100),
    ]),
  );
const ofRedis = ',service="redis",operation="evalsha"';

const inOrder: Series = {
  [`up{${node}}`]: constant(1),
  [`process_start_time_seconds{${node}}`]: constant(1_000),
  [`nodejs_eventloop_lag_p99_seconds{${node}}`]: constant(0.05),
  [`fenceline_locations_accepted_total{${node},endpoint="track"}`]: growing(100),
  [`fenceline_locations_evaluated_total{${node},result="applied"}`]: growing(100),
  [`fenceline_location_backlog_records{${node}}`]: constant(200_000),
  ...histogram('location_lag_seconds', 0),
  [`fenceline_location_partitions_fenced_total{${node}}`]: constant(20),
  [`fenceline_ingest_overloaded_total{${node}}`]: constant(7),
  [`fenceline_track_replies_timed_out_total{${node}}`]: constant(7),
  [`fenceline_storage_free_bytes{${node}}`]: constant(3e9),
  [`fenceline_storage_min_free_bytes{${node}}`]: constant(1e9),
  [`fenceline_storage_writes_refused{${node}}`]: constant(0),
  [`fenceline_dead_letters_total{${node},reason="old"}`]: constant(3),
  [`fenceline_records_expired_total{${node},topic="old"}`]: constant(3),
  [`fenceline_webhook_deliveries_pending{${node}}`]: constant(1_000),
  [`fenceline_webhook_partitions_fenced_total{${node}}`]: constant(20),
  ...histogram('webhook_lag_seconds', 0),
  [`fenceline_analytics_rows_total{${node},table="locations"}`]: growing(100),
  ...histogram('analytics_lag_seconds', 0),
  [`fenceline_http_request_seconds_count{${node},status="200"}`]: growing(100),
  [`fenceline_http_request_seconds_count{${node},status="503"}`]: growing(0.5),
  [`fenceline_event_streams_dropped_total{${node}}`]: constant(20),
  [`fenceline_mails_total{${node},result="sent"}`]: growing(1),
  [`fenceline_mails_total{${node},result="login_failed"}`]: constant(3),
  [`fenceline_sync_runs_total{${node},result="succeeded"}`]: growing(1),
  [`fenceline_sync_runs_total{${node},result="failed"}`]: constant(3),
  ...histogram('service_request_seconds', 0, ofRedis),
  [`fenceline_service_request_seconds_count{${node}${ofRedis}}`]: growing(100),
  [`fenceline_service_request_errors_total{${node}${ofRedis}}`]: growing(1),
};

/** 18 times. What a process has used of its processor when it is scraped may always be the same, or more. */
const startedEvery5Minutes = Array.from({ length: 18 }, (_, index) => `${1_000 + index * 300}x9`).join(' ');

/** What raises each alert. */
const faults: Readonly<Record<string, Series>> = {
  NodeDown: { 'up{job="fenceline",instance="b",role="pipeline"}': constant(0) },
  // It was missing for more than an hour, and the alert had ended by itself.
  RoleMissing: { 'up{job="fenceline",instance="c",role="webhooks"}': '1x10 _x170' },
  NodeRestarting: { [`process_start_time_seconds{${node}}`]: startedEvery5Minutes },
  EvaluationStalled: { [`fenceline_locations_evaluated_total{${node},result="applied"}`]: constant(500) },
  EvaluationLate: histogram('location_lag_seconds', 5),
  BacklogGrows: { [`fenceline_location_backlog_records{${node}}`]: '200000+1000x180' },
  LocationsRefused: { [`fenceline_ingest_overloaded_total{${node}}`]: growing(1) },
  DiskNearlyFull: { [`fenceline_storage_free_bytes{${node}}`]: constant(1.9e9) },
  WritesRefused: { [`fenceline_storage_writes_refused{${node}}`]: constant(1) },
  TrackRepliesTimedOut: { [`fenceline_track_replies_timed_out_total{${node}}`]: growing(2) },
  DeadLetters: { [`fenceline_dead_letters_total{${node},reason="unreadable"}`]: appearing },
  PartitionDiverged: { [`fenceline_partitions_diverged{${node},topic="locations"}`]: constant(1) },
  PartitionHalted: { [`fenceline_partitions_halted_total{${node},topic="locations"}`]: appearing },
  RecordsExpired: { [`fenceline_records_expired_total{${node},topic="events"}`]: appearing },
  PartitionsContested: { [`fenceline_location_partitions_fenced_total{${node}}`]: growing(1) },
  WebhookBacklog: { [`fenceline_webhook_deliveries_pending{${node}}`]: constant(200_000) },
  WebhooksLate: histogram('webhook_lag_seconds', 10),
  AnalyticsStalled: { [`fenceline_analytics_rows_total{${node},table="locations"}`]: constant(500) },
  AnalyticsLate: histogram('analytics_lag_seconds', 30),
  EventLoopBlocked: { [`nodejs_eventloop_lag_p99_seconds{${node}}`]: constant(0.6) },
  RequestsFail: { [`fenceline_http_request_seconds_count{${node},status="503"}`]: growing(2) },
  StreamsDropped: { [`fenceline_event_streams_dropped_total{${node}}`]: growing(1) },
  MailsFail: { [`fenceline_mails_total{${node},result="unreachable"}`]: appearing },
  SyncsFail: { [`fenceline_sync_runs_total{${node},result="failed"}`]: appearing },
  ServiceRequestsFail: {
    [`fenceline_service_request_errors_total{${node}${ofRedis}}`]: growing(6),
  },
  ServiceServesNobody: { [`fenceline_dependency_refusals_total{${node},service="redis"}`]: growing(1) },
  ServiceSlow: histogram('service_request_seconds', 1, ofRedis),
};

const folder = mkdtempSync(join(tmpdir(), 'fenceline-alerts-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs the rules over the series, and returns what promtool says if other alerts than the expected ones are firing. */
function complaintAbout(series: Series, firing: readonly string[]): string {
  const file = join(folder, 'test.yml');
  const expected = {
    expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
    eval_time: '80m',
    exp_samples: firing.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
  };
  const inputs = Object.entries({ ...inOrder, ...series }).map(([name, values]) => ({ series: name, values }));
  writeFileSync(
    file,
    stringify({
      rule_files: [fileURLToPath(repositoryFile('deploy/prometheus/alerts.yml'))],
      evaluation_interval: '30s',
      tests: [{ interval: '30s', input_series: inputs, promql_expr_test: [expected] }],
    }),
  );
  const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
  return status === 0 ? '' : stdout + stderr;
}

it('has a fault for each alert', () => {
  expect(Object.keys(faults)).toEqual(alerts.map(({ alert }) => alert));
});

describe.skipIf(isPromtoolMissing)('the alerts', () => {
  it('are silent while a node is in order', () => {
    expect(complaintAbout({}, [])).toBe('');
  });

  it.each(Object.entries(faults))('%s is raised alone by its fault', (alert, series) => {
    expect(complaintAbout(series, [alert])).toBe('');
  });

  // What another process had counted long before kept the second one silent.
  it.each([
    ['DeadLetters', 'fenceline_dead_letters_total', 'reason="old"'],
    ['RecordsExpired', 'fenceline_records_expired_total', 'topic="old"'],
    ['MailsFail', 'fenceline_mails_total', 'result="login_failed"'],
    ['SyncsFail', 'fenceline_sync_runs_total', 'result="failed"'],
  ])('regression: %s is raised by the first count of a second process', (alert, counter, label) => {
    const other = node.replace('"a"', '"b"');
    expect(
      complaintAbout({ [`up{${other}}`]: constant(1), [`${counter}{${other},${label}}`]: appearing }, [alert]),
    ).toBe('');
  });

  it('regression: RequestsFail is raised while probes and scrapes outnumber the clients, which get 503', () => {
    const requests = 'fenceline_http_request_seconds_count';
    const series = {
      [`${requests}{${node},route="/metrics",status="200"}`]: growing(10_000),
      [`${requests}{${node},route="/v1/track",status="503"}`]: growing(2),
    };
    expect(complaintAbout(series, ['RequestsFail'])).toBe('');
  });

  // Quantiles are interpolated, and the next bucket ended at a minute.
  it('regression: AnalyticsLate is silent while analytics are eleven seconds behind', () => {
    expect(complaintAbout(histogram('analytics_lag_seconds', 10), [])).toBe('');
  });
});
