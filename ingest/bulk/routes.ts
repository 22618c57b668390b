/**
 * POST /v1/locations: locations from backends, any number in one request, as lines of JSON or an Avro container. The
 * body is read as fast as locations become durable, so TCP back-pressure slows down a fast sender.
 */
import { setTimeout } from 'node:timers/promises';
import type { FastifyPluginAsync, FastifyRequest } from 'fastify';
import Type from 'typebox';
import { callerOf } from '../../http/access/authority.js';
import { leavingOf, revocationOf } from '../../http/access/revocation.js';
import { sendFailure } from '../../http/answers/failures.js';
import { failureAnswer } from '../../http/declared-failures.js';
import type { Receipt } from '../../http/location/request.js';
import { TrackRequest } from '../../http/location/schema.js';
import { mediaTypeOf, uploadedBody, uploadFailure } from '../../http/requests/uploads.js';
import { ApiError } from '../../schemas/errors.js';
import type { IngestParts } from '../dependencies.js';
import { asOverload, countRefusal, overloaded } from '../intake.js';
import { BulkAnswer, tallyOfFailure } from '../schemas.js';
import { avroRecords } from './avro/container.js';
import { trackFieldsOf } from './avro/fields.js';
import { BrokenAvro } from './avro/reader.js';
import { type Line, linesOf } from './line-splitter.js';
import { readBulkLine, readBulkLocation } from './locations.js';
import { BulkUpload } from './upload.js';

const lineTypes = new Set([
  'application/x-ndjson',
  'application/ndjson',
  'application/jsonl',
  'application/json',
  'text/plain',
]);
const avroTypes = new Set(['application/avro', 'avro/binary', 'application/vnd.apache.avro']);

const isBlank = (line: string): boolean => !(line.charCodeAt(0) > 32) && line.trim() === '';

/** Some programs of Windows begin each file with a byte order mark. */
const withoutByteOrderMark = (line: Line): Line =>
  typeof line === 'string' && line.startsWith('\ufeff') ? line.slice(1) : line;

type Read = (upload: BulkUpload, source: AsyncIterable<Buffer>, receipt: () => Receipt) => Promise<void>;

async function readLines(upload: BulkUpload, source: AsyncIterable<Buffer>, receipt: () => Receipt): Promise<void> {
  let number = 0;
  for await (const lines of linesOf(source)) {
    const received = receipt();
    for (const given of lines) {
      number += 1;
      const line = number === 1 ? withoutByteOrderMark(given) : given;
      if (typeof line === 'string' && isBlank(line)) continue;
      const result = typeof line === 'string' ? readBulkLine(line, received) : { ok: false as const, problem: line };
      if (upload.add(number, result)) await upload.flush();
    }
  }
}

async function readContainer(upload: BulkUpload, source: AsyncIterable<Buffer>, receipt: () => Receipt): Promise<void> {
  let number = 0;
  for await (const records of avroRecords(source)) {
    const received = receipt();
    for (const record of records) {
      number += 1;
      if (upload.add(number, readBulkLocation(trackFieldsOf(record), received))) await upload.flush();
    }
  }
}

function readerOf(request: FastifyRequest): Read {
  const type = mediaTypeOf(request);
  if (lineTypes.has(type)) return readLines;
  if (avroTypes.has(type)) return readContainer;
  throw new ApiError('unsupported_media_type', 'Content-Type must be application/x-ndjson or application/avro');
}

/** Returns the catalogued error for a broken body; any other error unchanged. */
function bodyFailure(error: unknown): unknown {
  if (error instanceof BrokenAvro) return new ApiError('invalid_body', `the Avro container ${error.message}`);
  return asOverload(uploadFailure(error));
}

/**
 * Creates the wait before each batch of an upload, for the rate limits and for evaluation.
 * @param count counts records against the rate limits, and returns how long to wait for them.
 * @param ended aborts when nobody sends more.
 * @param closing aborts when the server stops.
 */
function createPace(
  count: (records: number) => number,
  paceBulk: IngestParts['paceBulk'],
  ended: AbortSignal,
  closing: AbortSignal,
) {
  const notWaiting = AbortSignal.any([ended, closing]);
  let counted = 0;
  return {
    async before(records: number): Promise<void> {
      counted += records;
      const waitMs = count(records);
      try {
        if (waitMs > 0) await setTimeout(waitMs, undefined, { signal: notWaiting });
        await paceBulk(notWaiting);
      } catch (error) {
        // Nobody sends more, and what has arrived is little: it is appended without a wait.
        if (!ended.aborted) throw closing.aborted ? closing.reason : error;
      }
    },
    /** The rest after the last full batch waits for nothing, but many small uploads must count as well. */
    countRest(accepted: number): void {
      count(Math.max(0, accepted - counted));
    },
  };
}

const OneLocation = Type.Intersect([TrackRequest, Type.Object({ ip: Type.Optional(Type.String()) })]);

/** The failures of a body that is being read. The locations before it are durable. */
const failuresWithTally = Object.fromEntries(
  ([400, 401, 408, 503] as const).map((status) => [status, failureAnswer(status, tallyOfFailure)]),
);

/** Registers the route. Closing the server ends running uploads with `unavailable`. */
export const bulkRoutes: FastifyPluginAsync<IngestParts> = async (
  app,
  { log, admission, paceBulk, clock, metrics, rejections },
) => {
  const closing = new AbortController();
  app.addHook('preClose', async () => closing.abort(new ApiError('unavailable', 'the server is stopping')));

  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, body, done) => done(null, body));

  app.post(
    '/v1/locations',
    {
      config: { authority: 'secret', limit: 'bulk', isRepeatable: true, streamsBody: true },
      schema: {
        summary: 'Send many locations',
        description:
          'One location per line, or an Avro object container file whose fields have the same names. gzip is accepted.',
        tags: ['track'],
        consumes: ['application/x-ndjson', 'application/avro'],
        body: OneLocation,
        response: { 200: BulkAnswer, ...failuresWithTally },
      },
    },
    async (request, reply) => {
      const { project, environment } = callerOf(request);
      const read = readerOf(request);
      if (admission.isFull) {
        const refusal = overloaded();
        countRefusal(metrics, 'bulk', refusal);
        throw refusal;
      }
      app.rateLimiter.refuseUpload(callerOf(request), reply);
      // The last check: from here on the body is paused until it is read.
      const source = uploadedBody(request);
      const revocation = revocationOf(request, reply);
      revocation.addEventListener('abort', () => source.destroy(revocation.reason));
      const ended = AbortSignal.any([leavingOf(reply), revocation]);
      const count = (records: number) => app.rateLimiter.countUpload(callerOf(request), records);
      const pace = createPace(count, paceBulk, ended, closing.signal);
      // The body arrives while its first locations are appended already.
      const append: typeof log.append = async (topic, records) => {
        request.confirmAuthority();
        return log.append(topic, records);
      };
      const upload = new BulkUpload({ append }, admission, pace.before, (problem) =>
        rejections.add(callerOf(request), 'bulk', problem),
      );
      const receipt = (): Receipt => ({
        project,
        environment,
        receivedAt: clock(),
        ip: null,
        replayed: false,
        replyTo: null,
      });
      let failure: { readonly error: unknown } | undefined;
      try {
        await read(upload, source, receipt);
      } catch (error) {
        failure = { error };
      }
      await upload.settle();
      failure = upload.failure ?? failure;
      const { tally } = upload;
      pace.countRest(tally.accepted);
      metrics.add('locations_accepted_total', tally.accepted, 'bulk');
      metrics.add('locations_rejected_total', tally.rejected, 'bulk');
      // The counts tell what is durable nevertheless.
      if (failure === undefined) return { meta: { code: 200 }, ...tally };
      countRefusal(metrics, 'bulk', failure.error);
      return sendFailure(bodyFailure(failure.error), request, reply, tally);
    },
  );
};
