/** Streams the progress of one import as server-sent events. */
import { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callerOf } from '../http/access/authority.js';
import { endingOf } from '../http/access/revocation.js';
import { sendEventStream } from '../http/answers/headers.js';
import type { Scope } from '../pipeline/catalog/types.js';
import { hasElapsed } from '../schemas/durations.js';
import { ApiError } from '../schemas/errors.js';
import type { Import, ImportRecord } from '../schemas/json/import.js';
import { createOpenCounts } from '../schemas/open-counts.js';
import { importJson } from '../schemas/wire/import.js';
import type { Importer } from './importer.js';

/** Interval at which streams look for progress. */
const lookEveryMs = 250;
const heartbeatMs = 15_000;
const maxStreams = 200;
/** A project runs one import at a time, so these are readers of one import. */
export const maxStreamsPerProject = 20;

/** Returns the JSON of an import with its status as of now. */
export async function shownImport(importer: Importer, record: ImportRecord, isDetailed = true): Promise<Import> {
  return importJson(record, await importer.statusOf(record), { isDetailed });
}

interface ProgressStreams {
  /**
   * Answers with the stream of an import's progress. It ends with the import, when its client leaves, or when the
   * caller may no longer read it. Throws `overloaded` while too many streams are open.
   */
  send(record: ImportRecord, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
}

/** Creates the streams of progress. Throws `overloaded` beyond the bounds of a project or the node. */
export function createProgressStreams(importer: Importer, clock: () => number): ProgressStreams {
  const open = createOpenCounts();

  function admit(project: string): void {
    if (open.of(project) >= maxStreamsPerProject) {
      const rule = `${maxStreamsPerProject} streams of progress of this project are open`;
      throw new ApiError('overloaded', rule, { retryAfterS: 5 });
    }
    if (open.total >= maxStreams)
      throw new ApiError('overloaded', 'too many streams of progress are open', { retryAfterS: 5 });
  }

  async function* messages(scope: Scope, id: string, ending: AbortSignal): AsyncGenerator<string> {
    let last = '';
    let sentAtMs = clock();
    while (!ending.aborted) {
      const record = importer.find(scope, id);
      if (record === undefined) return;
      const json = await shownImport(importer, record, record.status !== 'running');
      const data = JSON.stringify(json);
      const isEnd = json.status !== 'running';
      const isNews = data !== last || isEnd;
      const isBeatDue = hasElapsed(heartbeatMs, sentAtMs, clock());
      if (isNews) yield `event: ${isEnd ? 'end' : 'progress'}\ndata: ${data}\n\n`;
      else if (isBeatDue) yield ': heartbeat\n\n';
      if (isNews || isBeatDue) sentAtMs = clock();
      last = data;
      if (isEnd) return;
      await delay(lookEveryMs);
    }
  }

  return {
    send: ({ _id, project }, request, reply) =>
      sendEventStream(reply, () => {
        admit(project);
        const texts = messages(callerOf(request), _id, endingOf(request, reply));
        return Readable.from(texts, { objectMode: false }).once('close', open.add(project));
      }),
  };
}
