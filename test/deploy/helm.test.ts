/**
 * The chart in deploy/helm fits the program that it starts: its settings exist, its ports and probes answer, and it has
 * every role. helm and kubeconform check what it renders, where .ci/kubernetes-tools has laid them.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { groupNameOf } from '../../backends/cluster/kafka/connection/client.js';
import { topicConfig } from '../../backends/cluster/kafka/connection/topics.js';
import { topics } from '../../pipeline/ports.js';
import { locationStageGroup } from '../../pipeline/stages/locations/stage.js';
import { clusterOptions, type ServiceOptions } from '../../server/cluster-options.js';
import { loadConfiguration } from '../../server/config/load.js';
import { type Configuration, roles } from '../../server/config/schema.js';
import { version } from '../../server/version.js';
import { startPrometheus } from '../../testing/services/prometheus.js';
import { until } from '../../testing/until.js';
import { SharedServer } from '../support/shared-server.js';
import { readRepositoryFile, repositoryFile } from './compose.js';
import { settingsSchema } from './helm-schema.js';
import { isPrometheusMissing } from './monitoring.js';

const { TEST_HELM = '', TEST_KUBECONFORM = '', TEST_KUBERNETES_SCHEMAS = '' } = process.env;
const kubernetesVersion = '1.37.0';
const chart = fileURLToPath(repositoryFile('deploy/helm'));

// biome-ignore lint/suspicious/noExplicitAny: Kubernetes objects of many kinds
type Resource = any;

const secrets = { FENCELINE_ADMIN_API_KEY: 'a'.repeat(32), FENCELINE_ENCRYPTION_KEY: '0'.repeat(64) };
const onExistingServices = {
  secrets: { values: secrets },
  settings: {
    kafka: { brokers: ['kafka.example:9093'] },
    redis: { nodes: ['redis.example:6380'] },
    registry: { url: 'https://registry.example/apis/ccompat/v7' },
    clickhouse: { url: 'https://clickhouse.example:8443' },
    imports: { maxFileBytes: 2_147_483_648 },
  },
};
/** Values that enable everything. */
const onOperators = {
  secrets: { values: { ...secrets, FENCELINE_REDIS_PASSWORD: 'r', FENCELINE_CLICKHOUSE_PASSWORD: 'c' } },
  certificates: { existingSecret: 'certificates' },
  roles: {
    ingest: { autoscaling: { enabled: true, prometheusAddress: 'http://prometheus:9090', authenticationRef: 'prom' } },
    pipeline: { autoscaling: { enabled: true, authenticationRef: 'kafka', kafkaMetadata: { sasl: 'scram_sha512' } } },
  },
  ingress: { enabled: true, className: 'haproxy', host: 'map.example.com', tlsSecret: 'tls' },
  proxy: { trustedProxies: ['10.42.0.0/16', 'fd00::/8'], service: { type: 'LoadBalancer' } },
  monitoring: {
    podMonitor: { enabled: true },
    alerts: { enabled: true, runbookUrl: 'https://example.com/' },
    dashboard: { enabled: true },
  },
  kafka: { strimzi: { enabled: true } },
  redis: { operator: { enabled: true } },
  clickhouse: { altinity: { enabled: true, shards: 2, replicas: 2, keeper: 'keeper' } },
  registry: { apicurio: { enabled: true } },
};

/** Values that scale `ingest` by processor time alone. */
const byProcessorTime = { ...onExistingServices, roles: { ingest: { autoscaling: { enabled: true } } } };

const folder = mkdtempSync(join(tmpdir(), 'fenceline-chart-'));
afterAll(() => rmSync(folder, { recursive: true }));

function run(program: string, words: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync(program, words, { encoding: 'utf8', input, maxBuffer: 2 ** 26 });
  return { status, out: stdout, error: stderr };
}

const helm = (command: readonly string[], values: object) =>
  run(
    TEST_HELM,
    [...command, chart, '--kube-version', kubernetesVersion, '--namespace', 'maps', '--values', '-'],
    stringify(values),
  );

function render(values: object): Resource[] {
  const { status, out, error } = helm(['template', 'fenceline'], values);
  if (status !== 0) throw new Error(error);
  return parseAllDocuments(out)
    .map((document) => document.toJS())
    .filter(Boolean);
}

/** Loads the configuration from the ConfigMap and the environment of a Deployment. */
function configured(resources: Resource[], deployment: Resource): Configuration & { options: ServiceOptions } {
  const map = resources.find(({ kind, data }) => kind === 'ConfigMap' && data['fenceline.yaml']);
  const file = join(folder, 'fenceline.yaml');
  writeFileSync(file, map.data['fenceline.yaml']);
  const [{ env }] = deployment.spec.template.spec.containers;
  const environment = Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value]));
  const secret = resources.find(({ kind }) => kind === 'Secret').stringData;
  const loaded = loadConfiguration({ flags: {}, environment: { ...environment, ...secret, FENCELINE_CONFIG: file } });
  if (!loaded.ok) throw new Error(loaded.problems.join('\n'));
  const given = clusterOptions(loaded.configuration);
  if (!given.ok) throw new Error(given.problems.join('\n'));
  return { ...loaded.configuration, options: given.options };
}

const ofKind = (resources: Resource[], wanted: string): Resource[] => resources.filter(({ kind }) => kind === wanted);
const image = `fenceline:${version}`;
const nodesOf = (resources: Resource[]): Resource[] =>
  ofKind(resources, 'Deployment').filter(({ spec }) => spec.template.spec.containers[0].image === image);
const scalerOf = (resources: Resource[], role: string): Resource =>
  ofKind(resources, 'ScaledObject').find(({ spec }) => spec.scaleTargetRef.name === `fenceline-${role}`);
const roleOf = (deployment: Resource): string => deployment.metadata.labels['app.kubernetes.io/component'];

describe('the chart', () => {
  it('has the version of the program', () => {
    const { version: ofChart, appVersion } = parse(readRepositoryFile('deploy/helm/Chart.yaml'));
    expect([ofChart, appVersion]).toEqual([version, version]);
  });

  it('accepts exactly the settings of the program', async () => {
    const file = repositoryFile('deploy/helm/values.schema.json');
    const { properties, ...rest } = JSON.parse(readFileSync(file, 'utf8'));
    const current = { ...rest, properties: { ...properties, settings: settingsSchema() } };
    await expect(`${JSON.stringify(current, null, 2)}\n`).toMatchFileSnapshot(file.pathname);
  });

  it('has values for all roles', () => {
    const values = parse(readRepositoryFile('deploy/helm/values.yaml'));
    expect(Object.keys(values.roles).toSorted()).toEqual([...roles].toSorted());
  });
});

// With a selector, kubectl shows ten lines of each log unless --tail says otherwise. The keys are printed once, before.
it('tells to look for the keys of the first project in the whole log', () => {
  const command = /^ {2}kubectl .* logs .*first project.*$/m.exec(
    readRepositoryFile('deploy/helm/templates/NOTES.txt'),
  );
  expect(command?.[0]).toMatch(/ logs --tail=-1 -l /);
});

describe.skipIf(TEST_HELM === '')('what helm renders', () => {
  let resources: Resource[];
  let withOperators: Resource[];
  let withProcessorTime: Resource[];
  let server: SharedServer;
  beforeAll(async () => {
    resources = render(onExistingServices);
    withOperators = render(onOperators);
    withProcessorTime = render(byProcessorTime);
    server = await SharedServer.newProject();
  });

  it.each([
    ['on services that exist', onExistingServices],
    ['with everything switched on', onOperators],
  ])('passes helm lint %s', (_, values) => {
    expect(helm(['lint', '--strict'], values)).toMatchObject({ status: 0 });
  });

  it('fits the schemas of Kubernetes', () => {
    writeStandaloneSchemas([...resources, ...withOperators, ...withProcessorTime]);
    // Resources of operators have no schema here.
    const ofOperators = [
      ...['ScaledObject', 'PodMonitor', 'PrometheusRule', 'Kafka', 'KafkaNodePool', 'KafkaTopic', 'RedisReplication'],
      'ClickHouseInstallation',
    ];
    const location = join(folder, 'schemas', '{{ .ResourceKind }}{{ .KindSuffix }}.json');
    const words = ['-strict', '-summary', '-output', 'json', '-skip', ofOperators.join(',')];
    for (const each of [resources, withOperators, withProcessorTime]) {
      const text = each.map((resource) => stringify(resource, { aliasDuplicateObjects: false })).join('---\n');
      const checked = run(TEST_KUBECONFORM, [...words, '-schema-location', location, '-'], text);
      const { resources: faults, summary } = JSON.parse(checked.out);
      expect(faults ?? []).toEqual([]);
      expect(summary).toMatchObject({ invalid: 0, errors: 0 });
      expect(summary.valid).toBeGreaterThan(20);
    }
  });

  it('runs every role with settings that the program accepts', () => {
    for (const each of [resources, withOperators]) {
      const ofNodes = nodesOf(each);
      expect(ofNodes.map((deployment) => configured(each, deployment).roles)).toEqual(
        ofNodes.map((deployment) => [roleOf(deployment)]),
      );
      expect(ofNodes.map(roleOf).toSorted()).toEqual([...roles].toSorted());
      for (const deployment of ofNodes) {
        const { data, backend } = configured(each, deployment);
        expect(backend).toBe('cluster');
        const { volumeMounts } = deployment.spec.template.spec.containers[0];
        expect(volumeMounts.some(({ mountPath }: { mountPath: string }) => data.startsWith(`${mountPath}/`))).toBe(
          true,
        );
      }
    }
    expect(configured(resources, nodesOf(resources)[0]).imports.maxFileBytes).toBe(2_147_483_648);
  });

  it('fills in the addresses of the services that it creates', () => {
    const { kafka, redis, registry, clickHouse } = configured(withOperators, nodesOf(withOperators)[0]).options;
    const services = ofKind(withOperators, 'Service').map(({ metadata }) => metadata.name);
    expect(services).toContain(new URL(registry.url).hostname);
    // The operators name their Services after their resources.
    const [ofKafka] = ofKind(withOperators, 'Kafka');
    expect(kafka.brokers).toEqual([`${ofKafka.metadata.name}-kafka-bootstrap:9092`]);
    const [ofRedis] = ofKind(withOperators, 'RedisReplication');
    expect(redis.nodes).toEqual([{ host: `${ofRedis.metadata.name}-master`, port: 6379 }]);
    const [ofClickHouse] = ofKind(withOperators, 'ClickHouseInstallation');
    expect(new URL(clickHouse.url).hostname).toBe(`clickhouse-${ofClickHouse.metadata.name}`);
    expect(clickHouse.cluster).toBe(ofClickHouse.spec.configuration.clusters[0].name);
  });

  it('probes paths that a node answers, at the port of the image', async () => {
    const [, port] = /^EXPOSE (\d+)$/m.exec(readRepositoryFile('Dockerfile'))!;
    for (const deployment of nodesOf(resources)) {
      const [container] = deployment.spec.template.spec.containers;
      expect(container.ports).toEqual([{ name: 'http', containerPort: Number(port) }]);
      expect(configured(resources, deployment).port).toBe(Number(port));
      for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
        const { path, port: named } = container[probe].httpGet;
        expect(named).toBe('http');
        expect((await fetch(server.address + path)).status, path).toBe(200);
      }
    }
    const [monitor] = ofKind(withOperators, 'PodMonitor');
    const [{ path }] = monitor.spec.podMetricsEndpoints;
    expect(await (await fetch(server.address + path)).text()).toContain('fenceline_build_info');
    expect(monitor.spec.selector.matchExpressions[0].values).toEqual([...roles].toSorted());
  });

  it('runs processes without root, without capabilities and without a writable root', () => {
    for (const { spec } of ofKind(withOperators, 'Deployment')) {
      const pod = spec.template.spec;
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      expect(pod.automountServiceAccountToken).toBe(false);
      for (const { securityContext, resources: given } of pod.containers) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(given).toMatchObject({
          requests: { memory: expect.any(String) },
          limits: { memory: expect.any(String) },
        });
      }
    }
    // A Service named fenceline would otherwise set FENCELINE_PORT, which is a setting.
    for (const { spec } of nodesOf(resources)) expect(spec.template.spec.enableServiceLinks).toBe(false);
  });

  // `helm test` and the registry could not pull from a private registry, and `helm test` ran on other machines, with
  // other variables, than the nodes that it stands for.
  it('pulls every image with the secrets, and runs the check of services as a node', () => {
    const nodes = {
      environment: { HTTPS_PROXY: 'http://proxy:3128' },
      nodeSelector: { pool: 'maps' },
      tolerations: [{ key: 'maps', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      priorityClassName: 'high',
    };
    const imagePullSecrets = [{ name: 'pull' }];
    const rendered = render({ ...onOperators, imagePullSecrets, nodes });
    const pods = ofKind(rendered, 'Deployment').map(({ spec }) => spec.template.spec);
    const [doctor] = ofKind(rendered, 'Pod').map(({ spec }) => spec);
    for (const pod of [...pods, doctor]) expect(pod).toMatchObject({ imagePullSecrets, enableServiceLinks: false });
    const { environment, ...placement } = nodes;
    for (const pod of [...nodesOf(rendered).map(({ spec }) => spec.template.spec), doctor]) {
      expect(pod).toMatchObject(placement);
      const variables = pod.containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]);
      expect(Object.fromEntries(variables)).toMatchObject(environment);
    }
  });

  it('limits the network of every role, and spreads and protects those with several processes', () => {
    const selectorsOf = (kind: string, selector: (resource: Resource) => object) =>
      ofKind(resources, kind).map((resource) => JSON.stringify(selector(resource)));
    const policies = selectorsOf('NetworkPolicy', ({ spec }) => spec.podSelector.matchLabels);
    const budgets = selectorsOf('PodDisruptionBudget', ({ spec }) => spec.selector.matchLabels);
    for (const deployment of ofKind(resources, 'Deployment')) {
      const selector = JSON.stringify(deployment.spec.selector.matchLabels);
      expect(policies).toContain(selector);
      expect(budgets.includes(selector)).toBe(deployment.spec.replicas > 1);
      for (const { labelSelector } of deployment.spec.template.spec.topologySpreadConstraints)
        expect(JSON.stringify(labelSelector.matchLabels)).toBe(selector);
    }
    const [policy] = ofKind(resources, 'NetworkPolicy').filter(({ metadata }) => metadata.name.endsWith('-pipeline'));
    const ports = policy.spec.egress.flatMap((rule: Resource) => rule.ports ?? []).map(({ port }: Resource) => port);
    expect(new Set(ports)).toEqual(new Set([53, 9093, 6380, 8443, 443]));
  });

  it('scales evaluation by the lag of its group, up to the number of partitions', () => {
    const { spec } = scalerOf(withOperators, 'pipeline');
    const { prefix, brokers, partitions } = configured(withOperators, nodesOf(withOperators)[0]).options.kafka;
    expect(spec.triggers[0].metadata).toMatchObject({
      bootstrapServers: brokers.join(','),
      consumerGroup: groupNameOf({ prefix }, locationStageGroup, topics.locations),
      topic: prefix + topics.locations,
    });
    expect(spec.maxReplicaCount).toBeLessThanOrEqual(partitions);
  });

  // A million became 1e+06, which the program and KEDA refuse.
  it('writes large numbers as digits', () => {
    const rendered = render({
      ...onOperators,
      nodes: { environment: { FENCELINE_HTTP_MAX_BODY_BYTES: 2_000_000 } },
      roles: {
        pipeline: { autoscaling: { enabled: true, lagRecords: 1_000_000, kafkaMetadata: { each: 3_000_000 } } },
      },
    });
    expect(configured(rendered, nodesOf(rendered)[0]).http.maxBodyBytes).toBe(2_000_000);
    expect(scalerOf(rendered, 'pipeline').spec.triggers[0].metadata).toMatchObject({
      lagThreshold: '1000000',
      each: '3000000',
    });
  });

  it.each(['https://example.com/main', 'https://example.com/main/'])(
    'links alerts to the runbook in %s',
    (runbookUrl) => {
      const [{ spec }] = ofKind(
        render({ ...onOperators, monitoring: { alerts: { enabled: true, runbookUrl } } }),
        'PrometheusRule',
      );
      const links = spec.groups.flatMap(({ rules }: Resource) =>
        rules.map(({ annotations }: Resource) => annotations.runbook_url),
      );
      for (const link of links) expect(link).toMatch(/^https:\/\/example\.com\/main\/docs\/runbook\.md#/);
      expect(links.length).toBeGreaterThan(10);
    },
  );

  it('gives a scaled role one scaler, which decides its number of processes', () => {
    for (const [each, kinds] of [
      [withOperators, ['ScaledObject', 'ScaledObject']],
      [withProcessorTime, ['HorizontalPodAutoscaler']],
    ] as const) {
      const scalers = each.filter(({ kind }) => /^(HorizontalPodAutoscaler|ScaledObject)$/.test(kind));
      expect(scalers.map(({ kind }) => kind)).toEqual(kinds);
      for (const { spec } of scalers) {
        const target = each.find(
          ({ kind, metadata }) => kind === 'Deployment' && metadata.name === spec.scaleTargetRef.name,
        );
        expect(target.spec).not.toHaveProperty('replicas');
      }
    }
  });

  it.skipIf(isPrometheusMissing)('scales ingest by what its processes have received and not yet appended', async () => {
    const { triggers } = scalerOf(withOperators, 'ingest').spec;
    expect(triggers[0]).toMatchObject({ type: 'prometheus', authenticationRef: { name: 'prom' } });
    const { query, threshold, serverAddress } = triggers[0].metadata;
    expect(serverAddress).toBe('http://prometheus:9090');
    expect(Number(threshold)).toBeLessThan(configured(resources, nodesOf(resources)[0]).ingest.maxInFlightRecords);
    const metric = 'fenceline_ingest_in_flight_records';
    expect(await (await fetch(`${server.address}/metrics`)).text()).toContain(`# TYPE ${metric} gauge`);

    // Processes of this release, of another role and of another release, with the labels of a PodMonitor.
    const pods = {
      'fenceline-ingest-a': 4_000,
      'fenceline-ingest-b': 8_000,
      'fenceline-api-a': 5,
      'other-ingest-a': 7,
    };
    const exporter = createServer(({ url = '' }, response) => {
      response.setHeader('content-type', 'text/plain; version=0.0.4');
      response.end(`# TYPE ${metric} gauge\n${metric} ${pods[url.slice(1) as keyof typeof pods]}\n`);
    });
    onTestFinished(() => void exporter.close());
    await new Promise<void>((listening) => exporter.listen(0, '127.0.0.1', listening));
    const targets = [`127.0.0.1:${(exporter.address() as AddressInfo).port}`];
    const jobs = Object.keys(pods).map((pod) => ({
      job_name: pod,
      metrics_path: `/${pod}`,
      scrape_interval: '1s',
      static_configs: [{ targets, labels: { namespace: 'maps', pod } }],
    }));
    const running = await startPrometheus({ 'prometheus.yml': stringify({ scrape_configs: jobs }) });
    onTestFinished(() => running.stop());
    await until(async () => (await running.query(metric)).length === jobs.length);
    // KEDA requires one value.
    expect((await running.query(query)).map(({ metric: labels, value }) => [labels, value[1]])).toEqual([
      [{}, '12000'],
    ]);
  });

  it('creates the topics that a first start would create', () => {
    const { kafka } = configured(withOperators, nodesOf(withOperators)[0]).options;
    const created = ofKind(withOperators, 'KafkaTopic').map(({ spec }) => ({
      ...spec,
      config: Object.fromEntries(Object.entries(spec.config).map(([name, value]) => [name, `${value}`])),
    }));
    const wanted = Object.values(topics).map((topic) => {
      const { topic: topicName, numPartitions, replicationFactor, configEntries = [] } = topicConfig(topic, kafka);
      const config = Object.fromEntries(configEntries.map(({ name, value }) => [name, value]));
      return { topicName, partitions: numPartitions, replicas: replicationFactor, config };
    });
    const byName = (a: { topicName: string }, b: { topicName: string }) => (a.topicName < b.topicName ? -1 : 1);
    expect(created.toSorted(byName)).toEqual(wanted.toSorted(byName));
  });

  it('gives the proxy the rules of deploy/haproxy.cfg, with the names of its own Services', () => {
    const [map] = ofKind(resources, 'ConfigMap').filter(({ data }) => data['haproxy.cfg']);
    const lines = (text: string) => text.split('\n').filter((line) => !/^\s*(#|$)|resolv|nameserver/.test(line));
    expect(lines(map.data['haproxy.cfg'])).toEqual(lines(readRepositoryFile('deploy/haproxy.cfg')));
    const servers = [...map.data['haproxy.cfg'].matchAll(/server-template node \d+ (\S+) .* resolvers (\w+) /g)];
    expect(servers.map(([, address, resolvers]) => [address, resolvers])).toEqual(
      ['ingest', 'api'].map((role) => [`fenceline-${role}.maps.svc.cluster.local:8080`, 'cluster']),
    );
    expect(map.data['haproxy.cfg']).toContain('resolvers cluster\n  parse-resolv-conf\n');
    const headless = ofKind(resources, 'Service').filter(({ spec }) => spec.clusterIP === 'None');
    expect(headless.map(({ metadata }) => metadata.name).toSorted()).toEqual(['fenceline-api', 'fenceline-ingest']);
  });

  // On a rollout the proxy closed its listener at once. Kubernetes still sent it connections, which were refused.
  it('keeps the proxy listening for as long as nodes do when they stop, and lets its streams end', () => {
    const [, hardStopSeconds] = /hard-stop-after (\d+)s/.exec(readRepositoryFile('deploy/haproxy.cfg'))!;
    for (const readinessDelayMs of [10_000, 20_500]) {
      const settings = { ...onExistingServices.settings, http: { readinessDelayMs } };
      const deployments = ofKind(render({ ...onExistingServices, settings }), 'Deployment');
      const pod = deployments.find((deployment) => roleOf(deployment) === 'proxy').spec.template.spec;
      const [command, delay] = pod.containers[0].lifecycle.preStop.exec.command;
      expect([command, Number(delay)]).toEqual(['sleep', Math.ceil(readinessDelayMs / 1_000)]);
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(Number(delay) + Number(hardStopSeconds));
    }
  });

  // With an Ingress, every client had the address of the controller's pod: one attacker used up everybody's attempts to
  // sign in, and geofences with `ip` saw the pod.
  it('takes the address of a client from the proxies that the values name, and from nobody else', () => {
    const environmentOfProxy = (each: Resource[]) =>
      ofKind(each, 'Deployment').find((deployment) => roleOf(deployment) === 'proxy').spec.template.spec.containers[0]
        .env;
    expect(environmentOfProxy(withOperators)).toEqual([{ name: 'TRUSTED_PROXIES', value: '10.42.0.0/16 fd00::/8' }]);
    expect(environmentOfProxy(resources)).toBeUndefined();
    const policyOf = (each: Resource[]) =>
      ofKind(each, 'Service').find(({ metadata }) => metadata.name === 'fenceline').spec.externalTrafficPolicy;
    expect([policyOf(withOperators), policyOf(resources)]).toEqual(['Local', undefined]);
  });

  // Mails of a cluster behind an Ingress linked to http://127.0.0.1:8080.
  it('links in mails to the host of the Ingress, unless the settings name another', () => {
    const publicUrlOf = (each: Resource[]) => configured(each, nodesOf(each)[0]).http.publicUrl;
    expect([publicUrlOf(withOperators), publicUrlOf(resources)]).toEqual(['https://map.example.com', '']);
    const http = { publicUrl: 'https://other.example.com' };
    expect(publicUrlOf(render({ ...onOperators, settings: { http } }))).toBe(http.publicUrl);
  });

  it('has the alerts and the dashboard of the repository', () => {
    const [{ spec }] = ofKind(withOperators, 'PrometheusRule');
    const text = readRepositoryFile('deploy/prometheus/alerts.yml');
    expect(spec).toEqual(parse(text.replaceAll('runbook_url: docs/', 'runbook_url: https://example.com/docs/')));
    const [map] = ofKind(withOperators, 'ConfigMap').filter(({ data }) => data['fenceline.json']);
    expect(JSON.parse(map.data['fenceline.json'])).toEqual(
      JSON.parse(readRepositoryFile('deploy/grafana/fenceline.json')),
    );
  });

  it.each([
    ['no secrets', { secrets: { values: {} } }, 'FENCELINE_ADMIN_API_KEY is required'],
    ['a setting that does not exist', { settings: { kafka: { broker: [] } } }, 'kafka'],
    ['a password among the settings', { settings: { redis: { password: 'x' } } }, 'redis'],
    [
      'more processes that evaluate than partitions',
      { roles: { pipeline: { autoscaling: { enabled: true, maxReplicas: 49 } } } },
      '49 processes cannot share 48 partitions',
    ],
    [
      'an Ingress without the proxy',
      { proxy: { enabled: false }, ingress: { enabled: true } },
      'requires proxy.enabled',
    ],
    ['an Ingress whose controller is not trusted', { ingress: { enabled: true } }, 'requires proxy.trustedProxies'],
    ['to let everybody name a client', { proxy: { trustedProxies: ['0.0.0.0/0'] } }, 'trustedProxies'],
  ])('refuses %s', (_, values, reason) => {
    const { status, error } = helm(['template', 'fenceline'], { secrets: { values: secrets }, ...values });
    expect(status).not.toBe(0);
    expect(error).toContain(reason);
  });
});

/** Writes a schema per kind with all definitions that it refers to: kubeconform reads no references to other files. */
function writeStandaloneSchemas(resources: readonly Resource[]): void {
  const { $defs } = JSON.parse(readFileSync(join(TEST_KUBERNETES_SCHEMAS, '_definitions.json'), 'utf8'));
  mkdirSync(join(folder, 'schemas'));
  for (const { apiVersion, kind } of resources) {
    const [group, number] = apiVersion.includes('/') ? apiVersion.split('/') : [undefined, apiVersion];
    const name = [kind.toLowerCase(), group?.split('.')[0], number].filter(Boolean).join('-');
    const file = join(TEST_KUBERNETES_SCHEMAS, `${name}.json`);
    let text: string;
    try {
      text = readFileSync(file, 'utf8');
    } catch {
      continue;
    }
    const schema = JSON.parse(text.replaceAll(/"[^"]*_definitions\.json#/g, '"#'));
    const used = reachable(schema, $defs);
    writeFileSync(join(folder, 'schemas', `${name}.json`), JSON.stringify({ ...schema, $defs: used }));
  }
}

/** Returns the definitions that the schema refers to, directly or through others. */
function reachable(schema: object, definitions: Readonly<Record<string, object>>): Record<string, object> {
  const found: Record<string, object> = {};
  const visit = (node: object): void => {
    for (const [, name = ''] of JSON.stringify(node).matchAll(/"#\/\$defs\/([^"]+)"/g)) {
      if (name in found) continue;
      found[name] = definitions[name]!;
      visit(found[name]);
    }
  };
  visit(schema);
  return found;
}
