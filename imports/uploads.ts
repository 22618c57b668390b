/**
 * Receives a file into a folder, before anything of it is applied or admitted: a slow client does not hold an import
 * up, and the size is known for the progress.
 *
 * Uploads under way have bounds of their own. A project has few of a node's places, so that it cannot take them all,
 * and an upload that is too slow loses its place.
 */
import { createWriteStream } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline as connected, type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { setInterval } from 'node:timers';
import { Busboy } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { mediaTypeOf, uploadedBody, uploadFailure } from '../http/requests/uploads.js';
import { createFolder } from '../schemas/create-folder.js';
import { ApiError } from '../schemas/errors.js';
import { freshId } from '../schemas/ids.js';
import { formatOfName, formatOfType, importFormatsByExtension } from '../schemas/import-formats.js';
import type { ImportFormat } from '../schemas/json/import.js';
import { createOpenCounts } from '../schemas/open-counts.js';
import { cutText, limitText } from '../schemas/wording.js';

interface ReceivedFile {
  readonly format: ImportFormat;
  readonly fileName: string | null;
  readonly bytes: number;
  readonly path: string;
  remove(): Promise<void>;
}

const formType = 'multipart/form-data';
const extensions = Object.keys(importFormatsByExtension).join(', ');

const unsupported = (): ApiError =>
  new ApiError(
    'unsupported_media_type',
    `Content-Type must be text/csv, application/geo+json, application/x-ndjson or ${formType}`,
  );

/** The Content-Type of the form was right, so the file of it is named. */
const unsupportedPart = (): ApiError =>
  new ApiError(
    'unsupported_media_type',
    `the name of the file must end with ${extensions}, or its part of the form must have the Content-Type of one`,
  );

/** The media types that bodies of imports may have, with the one of forms. */
export const uploadTypes = ['text/csv', 'application/geo+json', 'application/x-ndjson', formType] as const;

/** Throws `unsupported_media_type` before anything of the body is read. */
export function refuseOtherTypes(request: FastifyRequest): void {
  const type = mediaTypeOf(request);
  if (type !== formType && formatOfType(type) === undefined) throw unsupported();
}

const maxFileNameCharacters = 255;
const maxFieldNameCharacters = 100;

/** Returns the last part of a name, because browsers may send a path. */
const shortName = (name: string | undefined): string | null =>
  cutText(name?.split(/[/\\]/).at(-1) ?? '', maxFileNameCharacters).toWellFormed() || null;

/** Counts bytes. Fails beyond the limit, and while the disk is nearly full: a small body may become a large file. */
function bounded(maxBytes: number, count: { bytes: number }, admitWrite: (() => void) | undefined): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      count.bytes += chunk.length;
      try {
        if (count.bytes > maxBytes)
          throw new ApiError('body_too_large', `the file is larger than ${limitText(maxBytes)} (imports.maxFileBytes)`);
        admitWrite?.();
        done(null, chunk);
      } catch (error) {
        done(error as Error);
      }
    },
  });
}

interface FormFile {
  readonly format: ImportFormat;
  readonly fileName: string | null;
}

/** Writes the one file of a form. A form with other fields is refused. */
function receiveForm(
  request: FastifyRequest,
  body: Readable,
  write: (file: Readable) => Promise<void>,
): Promise<FormFile> {
  return new Promise((resolve, reject) => {
    let received: Promise<FormFile> | undefined;
    let part: Readable | undefined;
    let hasFailed = false;
    const fail = (error: unknown): void => {
      if (hasFailed) return;
      hasFailed = true;
      body.unpipe();
      body.destroy();
      // The parser does not end the part. Without an end its file stays open, and keeps its space after its removal.
      part?.destroy(new Error('the form failed'));
      void Promise.allSettled([received]).then(() => reject(error));
    };
    let form: InstanceType<typeof Busboy>;
    try {
      form = new Busboy({ headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' } });
    } catch {
      fail(new ApiError('invalid_body', 'the form is invalid: its Content-Type has no boundary'));
      return;
    }
    form.on('file', (_field, file, name, _encoding, type) => {
      // The parser reports an early end at the part itself, also if nobody reads it.
      file.on('error', () => {});
      const format = formatOfName(name ?? '') ?? formatOfType(type.toLowerCase());
      if (received !== undefined || format === undefined) {
        file.resume();
        const twice = new ApiError('invalid_body', 'the form has several files; send one at a time');
        fail(received === undefined ? unsupportedPart() : twice);
        return;
      }
      part = file as Readable;
      received = write(part).then(() => ({ format, fileName: shortName(name) }));
      received.catch(fail);
    });
    // A field such as `dryRun` must not be ignored: the import would write.
    form.on('field', (name) => {
      const field = cutText(`${name}`, maxFieldNameCharacters).toWellFormed();
      const rule = 'has no file name; a form has one file, and parameters belong in the query';
      fail(new ApiError('invalid_parameter', `${field}: ${rule}`, { param: field }));
    });
    form.on('error', () => fail(new ApiError('invalid_body', 'the form is invalid or incomplete')));
    form.on('finish', () => {
      if (received === undefined) fail(new ApiError('invalid_body', 'the form has no file'));
      else received.then(resolve, reject);
    });
    body.on('error', fail);
    body.pipe(form);
  });
}

/** Limits of the uploads that this node receives. `maxFileBytes` is of the decompressed file. */
export interface UploadBounds {
  readonly maxFileBytes: number;
  /** Uploads that this node receives at the same time. */
  readonly maxUploads: number;
  /** Of these, uploads of one project. */
  readonly maxUploadsPerProject: number;
  /** An upload that sends fewer than `minWindowBytes` in a window ends. */
  readonly windowMs: number;
  readonly minWindowBytes: number;
}

/** Uploads take time but hardly any of the processor, so more may be under way than imports run. */
export const uploadsPerRunningImport = 4;

/** The bounds that no setting changes. An upload must send 30 kB in every 30 s. */
export const defaultUploadBounds: Omit<UploadBounds, 'maxFileBytes'> = {
  maxUploads: 16,
  maxUploadsPerProject: 2,
  windowMs: 30_000,
  minWindowBytes: 30_000,
};

const retryAfterS = 10;

/** Receives files into a folder, where they stay until they are imported. */
export interface UploadFolder {
  /** Receives the body of a request of a project. Throws catalogued errors. */
  receive(request: FastifyRequest, project: string, fileName: string | null): Promise<ReceivedFile>;
}

/** Passes a body on, and fails if it arrives too slowly. */
function paced(body: Readable, { windowMs, minWindowBytes }: UploadBounds): Readable {
  let windowBytes = 0;
  const pace = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      windowBytes += chunk.length;
      done(null, chunk);
    },
  });
  const checking = setInterval(() => {
    const rule = `the file arrives too slowly: send ${minWindowBytes} bytes or more in ${windowMs / 1_000} seconds`;
    if (windowBytes < minWindowBytes) pace.destroy(new ApiError('request_timeout', rule));
    windowBytes = 0;
  }, windowMs);
  checking.unref();
  return connected(body, pace, () => clearInterval(checking));
}

/**
 * Removes what an earlier process left in the folder.
 * @param admitWrite throws while nothing can be stored.
 */
export async function openUploadFolder(
  path: string,
  bounds: UploadBounds,
  admitWrite?: () => void,
): Promise<UploadFolder> {
  createFolder(path);
  for (const name of await readdir(path)) await rm(join(path, name), { force: true });
  const { maxUploads, maxUploadsPerProject } = bounds;
  const open = createOpenCounts();

  function admit(project: string): void {
    if (open.of(project) >= maxUploadsPerProject) {
      const rule = `this project sends ${maxUploadsPerProject} files to this server already; try again later`;
      throw new ApiError('overloaded', rule, { retryAfterS });
    }
    if (open.total >= maxUploads) {
      throw new ApiError('overloaded', `this server receives ${maxUploads} files; try again later`, { retryAfterS });
    }
  }

  return {
    async receive(request, project, fileName) {
      admit(project);
      const leave = open.add(project);
      const file = join(path, freshId());
      const remove = () => rm(file, { force: true });
      const count = { bytes: 0 };
      const write = (source: Readable) =>
        pipeline(source, bounded(bounds.maxFileBytes, count, admitWrite), createWriteStream(file));
      try {
        const type = mediaTypeOf(request);
        const body = paced(uploadedBody(request), bounds);
        const format = formatOfType(type);
        const received =
          format === undefined ? await receiveForm(request, body, write) : await write(body).then(() => ({ format }));
        return {
          fileName: shortName(fileName ?? undefined),
          ...received,
          bytes: count.bytes,
          path: file,
          remove,
        };
      } catch (error) {
        await remove();
        const { code } = error as NodeJS.ErrnoException;
        if (code === 'ENOSPC') throw new ApiError('storage_full', 'the disk is full');
        throw uploadFailure(error);
      } finally {
        leave();
      }
    },
  };
}
