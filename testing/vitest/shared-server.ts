/**
 * One server for all black-box files that need no settings of their own: a start costs seconds of processor time.
 *
 * Input: the first request of a test file, with the processes to launch. Output, to it and all later requests:
 * the address of the first process, and the text that the first request sent along. Each file then creates its own
 * project (`test/support/shared-server.ts`). The processes end after the last file.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { TestProject } from 'vitest/node';
import { type Exit, launchServer, type ServerProcess } from '../../server/server-process.js';

declare module 'vitest' {
  interface ProvidedContext {
    sharedServer: string;
  }
}

/** The processes that the first file wants. */
export interface SharedServerRequest {
  readonly program: string;
  /** The first one takes requests. */
  readonly processes: readonly {
    readonly dataFolder: string;
    readonly environment: Readonly<Record<string, string>>;
  }[];
  /** Returned to every file. */
  readonly note: string;
}

/** Where the shared server is. */
export interface SharedServerAnswer {
  readonly address: string;
  readonly note: string;
}

/** Waits for requests of test files and returns the function that ends the processes. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const launched: ServerProcess[] = [];
  let answer: Promise<SharedServerAnswer> | undefined;
  let isEnding = false;

  async function launch({ program, processes, note }: SharedServerRequest): Promise<SharedServerAnswer> {
    for (const each of processes) launched.push(launchServer({ program, ...each }));
    const [greeting] = await Promise.all(launched.map((each) => each.ready));
    for (const each of launched) void each.exited.then((exit) => report(each, exit));
    return { address: greeting!.address, note };
  }

  /** All later files fail because of it, and only its log says why. */
  function report({ log }: ServerProcess, { code, signal }: Exit): void {
    if (isEnding) return;
    console.error(`\nthe shared server ended by itself (${signal ?? `code ${code}`}):\n${log().join('\n')}\n`);
  }

  const control = createServer(async (incoming, response) => {
    try {
      const request = JSON.parse(await text(incoming)) as SharedServerRequest;
      answer ??= launch(request);
      response.end(JSON.stringify(await answer));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => control.listen(0, '127.0.0.1', resolve));
  project.provide('sharedServer', `http://127.0.0.1:${(control.address() as AddressInfo).port}/`);
  return async () => {
    isEnding = true;
    control.closeAllConnections();
    await new Promise((resolve) => control.close(resolve));
    await Promise.all(launched.map((each) => each.kill()));
  };
}
