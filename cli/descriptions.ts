/**
 * All commands of the command line as `fenceline help` shows them. Data only: this file loads no implementation, so
 * that help is fast.
 */
import type { CommandDescription, Options } from './command.js';

const config = {
  type: 'string',
  value: 'FILE',
  help: 'Configuration file. Default: FENCELINE_CONFIG, or fenceline.yaml in the working directory if it exists.',
} as const;
const key = {
  type: 'string',
  value: 'KEY',
  help: 'Secret key of the project and environment. Default: FENCELINE_KEY.',
} as const;
const data = { type: 'string', value: 'DIR', help: 'Data folder. Default: ./data.' } as const;
const node = {
  port: { type: 'string', value: 'N', help: 'TCP port to listen on; 0 picks a free one. Default: 8080.' },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'Address to listen on; 0.0.0.0 accepts connections from other machines. Default: 127.0.0.1.',
  },
  data,
  config,
} as const;
const address = {
  type: 'string',
  value: 'URL',
  help: 'Address of the running Fenceline. Default: FENCELINE_ADDRESS, or the configured host and port.',
} as const;
/** Of commands that call a node and read its data folder. */
const runningNode = {
  address,
  port: {
    type: 'string',
    value: 'N',
    help: 'TCP port of the running Fenceline, in place of --address. Comes before FENCELINE_ADDRESS. Default: 8080.',
  },
  host: {
    type: 'string',
    value: 'ADDRESS',
    help: 'Address on which it listens, in place of --address. Comes before FENCELINE_ADDRESS. Default: 127.0.0.1.',
  },
  data,
  config,
} as const;

const describe = <const Known extends Options>(description: CommandDescription<Known>) => description;

/** All commands in the order in which help lists them. */
export const descriptions = {
  serve: describe({
    summary: 'Runs Fenceline: everything in one process, or, in a cluster, the roles of this process.',
    usage: ['serve'],
    options: node,
    examples: [
      { line: 'fenceline serve', explanation: 'listens on 127.0.0.1:8080 and keeps everything in ./data' },
      {
        line: 'fenceline serve --host 0.0.0.0 --data /var/lib/fenceline',
        explanation: 'accepts connections from other machines',
      },
      {
        line: 'FENCELINE_ROLES=ingest,api fenceline serve --config cluster.yaml',
        explanation: 'runs two cluster roles',
      },
    ],
  }),
  project: describe({
    summary: 'Creates and lists projects and rotates their keys on a running Fenceline.',
    usage: ['project create NAME', 'project list', 'project rotate-key ID'],
    takesArguments: true,
    options: {
      environment: {
        type: 'string',
        value: 'test|live',
        help: 'Environment of the key to rotate. Required by rotate-key.',
        form: 'rotate-key',
      },
      kind: {
        type: 'string',
        value: 'publishable|secret',
        help: 'Kind of the key to rotate. Required by rotate-key. The old key is rejected at once.',
        form: 'rotate-key',
      },
      ...runningNode,
    },
    examples: [
      { line: "fenceline project create 'My shop'", explanation: 'prints the four keys of the project, once' },
      {
        line: 'fenceline project rotate-key 65f0c2a9b1d4e8f7a3c5d6e7 --environment live --kind secret',
        explanation: 'replaces a key',
      },
      {
        line: 'FENCELINE_ADMIN_API_KEY=… fenceline project list --address https://fenceline.example.com',
        explanation: 'uses another machine; on the same machine the key is read from the data folder',
      },
    ],
  }),
  places: describe({
    summary: 'Imports a catalogue of places into a running Fenceline. Repeating it changes nothing.',
    usage: ['places import FILE'],
    takesArguments: true,
    options: {
      key,
      address,
    },
    examples: [
      {
        line: 'FENCELINE_KEY=prj_test_sk_… fenceline places import places.geojson',
        explanation: 'a FeatureCollection whose features have `_id` and `name` as properties',
      },
      {
        line: 'fenceline places import places.ndjson --key prj_live_sk_…',
        explanation: 'one place per line',
      },
    ],
  }),
  export: describe({
    summary: 'Writes all geofences or beacons of a running Fenceline into a file, which an import reads.',
    usage: ['export [geofences]', 'export beacons'],
    takesArguments: true,
    options: {
      output: { type: 'string', short: 'o', value: 'FILE', help: 'File to write. Default: standard output.' },
      format: {
        type: 'string',
        value: 'FORMAT',
        help: 'Format: csv, geojson or ndjson. Default: by the extension of the file; csv if it has none.',
      },
      tag: { type: 'string', value: 'TAG', help: 'Only records with this tag. Default: all.' },
      key,
      address,
    },
    examples: [
      { line: 'fenceline export geofences -o geofences.csv', explanation: 'one row per geofence, oldest first' },
      { line: 'fenceline export --tag store -o stores.csv', explanation: 'only geofences with this tag' },
      { line: 'fenceline export beacons --tag door -o doors.geojson', explanation: 'one feature per beacon' },
    ],
  }),
  tail: describe({
    summary: 'Shows events of a running Fenceline as they happen, one line each.',
    usage: ['tail'],
    options: {
      key,
      type: { type: 'string', value: 'TYPE', help: 'Only events of this type, for example user.entered_geofence.' },
      tag: { type: 'string', value: 'TAG', help: 'Only events of geofences with this tag.' },
      'user-id': { type: 'string', value: 'ID', help: 'Only events of this user.' },
      device: { type: 'string', value: 'ID', help: 'Only events of this device.' },
      geofence: { type: 'string', value: 'ID', help: 'Only events of this geofence.' },
      from: {
        type: 'string',
        value: 'earliest',
        help: 'Start with the oldest stored event. Default: only new events.',
      },
      json: { type: 'boolean', help: 'Print events as JSON lines. Default: aligned columns.' },
      address,
    },
    examples: [
      { line: 'FENCELINE_KEY=prj_test_sk_… fenceline tail', explanation: 'shows new events until Ctrl-C' },
      {
        line: 'fenceline tail --key prj_live_sk_… --tag store --json | jq .user.userId',
        explanation: 'feeds a program',
      },
    ],
  }),
  replay: describe({
    summary: 'Evaluates recorded locations against the current or a proposed configuration. Changes nothing.',
    usage: ['replay'],
    options: {
      from: {
        type: 'string',
        value: 'TIME',
        help: 'Start of the range: a date such as 2029-01-01T09:30:00Z, or -2h. Default: the oldest stored location.',
      },
      to: { type: 'string', value: 'TIME', help: 'End of the range. Default: now.' },
      'warm-up': {
        type: 'string',
        value: 'DURATION',
        help: 'Locations before the range that are evaluated to know who was inside. Default: all stored ones.',
      },
      project: { type: 'string', value: 'ID', help: 'Project. Default: the only one.' },
      environment: { type: 'string', value: 'test|live', help: 'Environment. Default: live.' },
      geofences: {
        type: 'string',
        value: 'FILE',
        help: 'Proposed geofences: a JSON array, JSON lines or GeoJSON. Default: the current ones.',
      },
      'skip-invalid': {
        type: 'boolean',
        help: 'Skip invalid entries of the geofences file. Default: stop with status 1.',
      },
      settings: {
        type: 'string',
        value: 'FILE',
        help: 'Changes to the settings, as the JSON body of PUT /v1/settings. Default: the current settings.',
      },
      format: {
        type: 'string',
        value: 'summary|ndjson|csv',
        help: 'Output format. Default: summary on a terminal, else ndjson.',
      },
      compare: {
        type: 'boolean',
        help: 'Mark each event as new, missing or unchanged compared with the recorded events.',
      },
      data,
      config,
    },
    examples: [
      { line: 'fenceline replay --from -24h', explanation: 'summarises the events of the last 24 hours' },
      {
        line: 'fenceline replay --geofences proposed.geojson --compare --format csv > changes.csv',
        explanation: 'compares proposed geofences with what happened',
      },
    ],
  }),
  import: describe({
    summary: 'Imports a file of geofences or beacons into a running Fenceline.',
    usage: ['import FILE'],
    takesArguments: true,
    options: {
      resource: { type: 'string', value: 'geofences|beacons', help: 'What the file holds. Default: geofences.' },
      key,
      'dry-run': { type: 'boolean', help: 'Write nothing; list what would be created, updated and left unchanged.' },
      rejected: {
        type: 'string',
        value: 'FILE',
        help: 'File to write bad rows to, to correct and import again. Default: none.',
      },
      address,
    },
    examples: [
      {
        line: 'FENCELINE_KEY=prj_test_sk_… fenceline import stores.csv',
        explanation: 'takes .csv, .geojson and .ndjson files, also with .gz; the exit status is 1 if a row is bad',
      },
      {
        line: 'fenceline import stores.csv --dry-run --key prj_live_sk_…',
        explanation: 'shows what an import would do',
      },
    ],
  }),
  migrate: describe({
    summary: 'Copies the geofences, beacons and settings of a Radar project, and compares the events of both services.',
    usage: ['migrate radar FOLDER', 'migrate compare [FILE]'],
    takesArguments: true,
    options: {
      'radar-key': { type: 'string', value: 'KEY', help: 'Secret key of Radar. Default: RADAR_SECRET_KEY.' },
      'radar-address': { type: 'string', value: 'URL', help: "Address of Radar's API. Default: https://api.radar.io." },
      key,
      'dry-run': { type: 'boolean', help: 'Read and check everything, and write nothing to Fenceline.', form: 'radar' },
      from: {
        type: 'string',
        value: 'TIME',
        help: 'Start of the comparison: a date, or a duration before now. Default: -24h.',
        form: 'compare',
      },
      to: {
        type: 'string',
        value: 'TIME',
        help: 'End of the comparison. Default: -1m, when all events have arrived.',
        form: 'compare',
      },
      tolerance: {
        type: 'string',
        value: 'DURATION',
        help: 'Times may differ by this much. Default: 60s.',
        form: 'compare',
      },
      by: {
        type: 'string',
        value: 'userId|deviceId',
        help: 'Field that names the same user in both services. Default: userId.',
        form: 'compare',
      },
      json: { type: 'boolean', help: 'Print each difference as a JSON line.', form: 'compare' },
      address,
    },
    examples: [
      {
        line: 'RADAR_SECRET_KEY=prj_test_sk_… FENCELINE_KEY=prj_test_sk_… fenceline migrate radar radar --dry-run',
        explanation: 'reads into the folder radar, where an interrupted run continues',
      },
      { line: 'fenceline migrate compare --from -1h', explanation: 'exit status 1 if an event is in one service only' },
      {
        line: 'fenceline migrate compare webhooks.ndjson',
        explanation: "takes Radar's events from bodies of webhooks",
      },
    ],
  }),
  map: describe({
    summary: 'Draws a static map into a file, without a server.',
    usage: ["map 'QUERY' -o FILE"],
    takesArguments: true,
    options: {
      output: {
        type: 'string',
        short: 'o',
        value: 'FILE',
        help: 'File to write; .png, .webp or .jpg sets the format. Required.',
      },
      archive: {
        type: 'string',
        value: 'FILE|URL',
        help: 'Map data: a PMTiles or MBTiles file, or a URL. Default: maps.archive, or the built-in basemap.',
      },
      config,
    },
    examples: [
      {
        line: "fenceline map 'center=43.77,11.25&zoom=4&width=600&height=400' -o italy.png",
        explanation: 'takes the query of GET /maps/static',
      },
    ],
  }),
  roads: describe({
    summary: 'Builds road data for isochrones and routes from an OpenStreetMap extract.',
    usage: ['roads build FILE'],
    takesArguments: true,
    options: {
      boundary: {
        type: 'string',
        value: 'FILE',
        help: 'Where the extract ends, as a .poly file, which publishers offer beside it. Default: --bounds.',
      },
      bounds: {
        type: 'string',
        value: 'W,S,E,N',
        help: 'Where the extract ends, in degrees. Default: what the extract says.',
      },
      data,
      config,
    },
    examples: [
      { line: 'fenceline roads build region.osm.pbf', explanation: 'running nodes use the new data at once' },
      {
        line: 'fenceline roads build region.osm.pbf --boundary region.poly',
        explanation: 'knows where an irregular extract ends',
      },
    ],
  }),
  repartition: describe({
    summary: 'Increases the number of partitions of a stopped cluster and moves the devices.',
    usage: ['repartition --partitions N'],
    options: {
      partitions: { type: 'string', value: 'N', help: 'New number of partitions, up to 1,024. Required.' },
      config,
    },
    examples: [
      {
        line: 'fenceline repartition --partitions 96 --config cluster.yaml',
        explanation: 'every node must be stopped',
      },
    ],
  }),
  repair: describe({
    summary: 'Shows, and with --yes moves, stored positions that do not match the log after it lost records.',
    usage: ['repair positions'],
    takesArguments: true,
    options: {
      yes: { type: 'boolean', help: 'Move the positions. Default: only show them.' },
      topic: { type: 'string', value: 'TOPIC', help: 'Move the positions of one partition of this topic.' },
      partition: { type: 'string', value: 'N', help: 'The partition. Together with --topic and --offset.' },
      group: {
        type: 'string',
        value: 'GROUP',
        help: 'The group whose position moves. Default: all that read the partition.',
      },
      offset: { type: 'string', value: 'N', help: 'Offset to move to. Default: the end of the common history.' },
      data,
      config,
    },
    examples: [
      { line: 'fenceline repair positions', explanation: 'compares positions and log; nodes may be running' },
      { line: 'fenceline repair positions --yes', explanation: 'moves them to the end of the common history' },
    ],
  }),
  backup: describe({
    summary: 'Backs up the data folder of an embedded Fenceline, running or stopped, into an empty folder.',
    usage: ['backup FOLDER'],
    takesArguments: true,
    options: {
      'include-keys': {
        type: 'boolean',
        help: 'Include the encryption key and the admin API key. Default: keep them elsewhere.',
      },
      ...runningNode,
    },
    examples: [
      {
        line: 'fenceline backup /backups/2029-01-01 --data /var/lib/fenceline',
        explanation: 'run it on the same machine, as the user who runs the server',
      },
      { line: 'fenceline backup copy --include-keys', explanation: 'keep such a backup as safe as the keys' },
    ],
  }),
  restore: describe({
    summary: 'Verifies a backup and restores it into an empty data folder.',
    usage: ['restore FOLDER'],
    takesArguments: true,
    options: {
      'encryption-key': {
        type: 'string',
        value: 'FILE',
        help: 'File with the encryption key. Default: the one of the backup, or FENCELINE_ENCRYPTION_KEY.',
      },
      data,
      config,
    },
    examples: [
      {
        line: 'fenceline restore /backups/2029-01-01 --data /var/lib/fenceline --encryption-key encryption-key',
        explanation: 'then start the server on the folder',
      },
    ],
  }),
  config: describe({
    summary: 'Prints every setting with its value and the source of the value.',
    usage: ['config'],
    options: {
      explain: { type: 'boolean', help: 'Also print the effect and the environment variable of each setting.' },
      ...node,
    },
    examples: [
      { line: 'fenceline config', explanation: 'checks the configuration; secrets are not shown' },
      { line: 'fenceline config --explain', explanation: 'explains all settings' },
    ],
  }),
  doctor: describe({
    summary: 'Checks what a node needs: versions, reach, topics, permissions, clock, disk. Names each remedy.',
    usage: ['doctor'],
    options: {
      'read-data': {
        type: 'boolean',
        help: 'Also read everything in log, state, deliveries and read-model, and report damage.',
      },
      json: { type: 'boolean', help: 'Print one JSON object per line: level, subject, text, remedy.' },
      ...node,
    },
    examples: [
      { line: 'fenceline doctor', explanation: 'before the first start, or beside a running node' },
      {
        line: 'fenceline doctor --read-data --data /var/lib/fenceline',
        explanation: 'names the damaged folder after a disk failed; takes as long as the disk needs to read',
      },
      {
        line: 'fenceline doctor --config cluster.yaml',
        explanation: 'checks the services of a cluster; exit status 1 if something must be repaired',
      },
    ],
  }),
  size: describe({
    summary: 'Estimates processes, partitions, memory and disks for a number of devices, from measured costs.',
    usage: ['size'],
    options: {
      devices: { type: 'string', value: 'N', help: 'Number of devices, such as 10e6. Required.' },
      every: { type: 'string', value: 'SECONDS', help: 'Time between two locations of a device. Default: 60.' },
      fences: { type: 'string', value: 'N', help: 'Number of geofences. Default: 100000.' },
      events: { type: 'string', value: 'SHARE', help: 'Events per location. Default: 0.05.' },
      deliveries: { type: 'string', value: 'SHARE', help: 'Webhook requests per event. Default: 1.' },
      sdk: { type: 'boolean', help: 'Records with user, metadata and SDK details. Default: plain locations.' },
      replicas: { type: 'string', value: 'N', help: 'Copies of each record in Kafka. Default: 3.' },
      'location-days': { type: 'string', value: 'N', help: 'Retention of locations in Kafka. Default: 7.' },
      'event-days': { type: 'string', value: 'N', help: 'Retention of events in Kafka. Default: 30.' },
      'api-nodes': { type: 'string', value: 'N', help: 'Processes with role api. Default: 2.' },
      json: { type: 'boolean', help: 'Print one JSON object.' },
    },
    examples: [
      {
        line: 'fenceline size --devices 10e6 --every 60 --fences 1e6 --events 0.05',
        explanation: 'what 167,000 locations a second need',
      },
    ],
  }),
  demo: describe({
    summary: 'Starts Fenceline in a temporary folder, drives a fleet through a city and prints its events.',
    usage: ['demo'],
    options: {
      seconds: { type: 'string', value: 'N', help: 'Stop after N seconds. Default: run until Ctrl-C.' },
      devices: { type: 'string', value: 'N', help: 'Number of devices. Default: 500.' },
      rate: { type: 'string', value: 'N', help: 'Locations per second of the whole fleet. Default: 200.' },
    },
    examples: [{ line: 'fenceline demo --seconds 30', explanation: 'ends with a check that nothing was lost' }],
  }),
} as const;

/** The name of a command. */
export type CommandName = keyof typeof descriptions;
/** The options that a command is described with. */
export type OptionsOf<Name extends CommandName> = (typeof descriptions)[Name]['options'];
