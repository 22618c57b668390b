/**
 * A project of its own on the server that black-box files share: embedded, or two nodes of a cluster in that project of
 * vitest. For files that need no settings of their own, no restart, and no look at the data folder.
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import type { Keys } from '../../server/server-process.js';
import { type AnswerCheck, createAnswerCheck } from '../../testing/described-answers.js';
import type { SharedServerAnswer, SharedServerRequest } from '../../testing/vitest/shared-server.js';
import { placeBasemap } from './basemap.js';
import { Client, type Json, ok } from './client.js';
import { newTestCluster, type TestCluster } from './cluster.js';
import { program } from './program.js';
import { adminApiKeyIn, companionFolderOf, companionRoles, patientReplies } from './server.js';

/** Generous limits, a clock that expires geofences soon, sign-up, and files of sync and maps from the tests. */
const settings = {
  FENCELINE_LOG_LEVEL: 'warn',
  ...patientReplies,
  FENCELINE_LIMITS_TRACK_PER_DEVICE_PER_SECOND: '0',
  FENCELINE_EXPIRY_INTERVAL_MS: '1000',
  FENCELINE_SIGNUP_ENABLED: 'on',
  FENCELINE_SYNC_ALLOWED_NETWORKS: '127.0.0.1',
  FENCELINE_MAPS_ALLOWED_NETWORKS: '127.0.0.1',
};

interface Note {
  readonly dataFolder: string;
  readonly cluster: TestCluster | undefined;
}

export class SharedServer {
  readonly address: string;
  readonly keys: Keys;
  /** Id of the project. */
  readonly project: string;
  /** Undefined when embedded. */
  readonly cluster: TestCluster | undefined;
  /** Folder of the mails that the server writes. */
  readonly outbox: string;
  readonly adminApiKey: string;
  readonly #check: AnswerCheck;

  private constructor(
    address: string,
    project: { readonly id: string; readonly keys: Keys },
    { dataFolder, cluster }: Note,
    { adminApiKey, check }: { readonly adminApiKey: string; readonly check: AnswerCheck },
  ) {
    this.#check = check;
    this.outbox = join(dataFolder, 'outbox');
    this.address = address;
    this.project = project.id;
    this.keys = project.keys;
    this.cluster = cluster;
    this.adminApiKey = adminApiKey;
  }

  /** Starts the shared server if no other file has, and creates a project. */
  static async newProject(): Promise<SharedServer> {
    const { address, note } = await launchOnce();
    const { dataFolder, cluster } = JSON.parse(note) as Note;
    const adminApiKey = cluster?.adminApiKey ?? (await adminApiKeyIn(dataFolder));
    const check = await checkOf(address);
    const administrator = new Client(() => address, adminApiKey, check);
    const { project } = ok(await administrator.post('/v1/projects', { name: `test ${process.pid}` }));
    const keyOf = (environment: string, kind: string): string =>
      project.keys.find((key: Json) => key.environment === environment && key.kind === kind).key;
    const keys = {
      test_publishable: keyOf('test', 'publishable'),
      test_secret: keyOf('test', 'secret'),
      live_publishable: keyOf('live', 'publishable'),
      live_secret: keyOf('live', 'secret'),
    };
    return new SharedServer(address, { id: project._id, keys }, { dataFolder, cluster }, { adminApiKey, check });
  }

  /** Returns a client with one of the project's keys. */
  as(key: keyof Keys): Client {
    return this.withKey(this.keys[key]);
  }

  /** Returns a client with any text for a key, or none. */
  withKey(key: string | undefined): Client {
    return new Client(() => this.address, key, this.#check);
  }

  async administrator(): Promise<Client> {
    return this.withKey(this.adminApiKey);
  }
}

async function checkOf(address: string): Promise<AnswerCheck> {
  const response = await fetch(`${address}/openapi.json`);
  return createAnswerCheck(await response.json());
}

async function launchOnce(): Promise<SharedServerAnswer> {
  const dataFolder = join(inject('oneRun').folder, 'shared-server');
  await mkdir(dataFolder, { recursive: true });
  await placeBasemap(dataFolder);
  const cluster = newTestCluster();
  const environment = { ...cluster?.environment, ...settings };
  const companion = { ...environment, FENCELINE_ROLES: companionRoles };
  const request: SharedServerRequest = {
    program,
    processes: [
      { dataFolder, environment },
      ...(cluster ? [{ dataFolder: companionFolderOf(dataFolder), environment: companion }] : []),
    ],
    note: JSON.stringify({ dataFolder, cluster } satisfies Note),
  };
  const response = await fetch(inject('sharedServer'), { method: 'POST', body: JSON.stringify(request) });
  if (!response.ok) throw new Error(`the shared server did not start: ${await response.text()}`);
  return (await response.json()) as SharedServerAnswer;
}
