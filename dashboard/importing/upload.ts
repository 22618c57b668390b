/** Sends a file with its progress, which `fetch` does not tell. */
import type { Import } from '../../client/types';
import { callHeaders, isOfGateway, refusalOf, Unreachable, waitForAnswer } from '../client/call';
import { reportReachable, reportUnreachable } from '../state/connection';
import type { Resource } from './columns';
import type { Format } from './preview';

const types: Record<Format, string> = {
  csv: 'text/csv',
  geojson: 'application/geo+json',
  ndjson: 'application/x-ndjson',
};

/** Seconds for which the server waits for the end: a small file needs no second request. */
const waitS = 1;

interface UploadRequest {
  readonly resource: Resource;
  readonly file: File;
  readonly format: Format;
  readonly isDryRun: boolean;
  onProgress(sentBytes: number): void;
}

/** The upload of a file that is under way. */
export interface Upload {
  /**
   * Resolves with the import, which may be running or have failed. Rejects with Failure, Unreachable, an Error
   * if the file has changed, or an AbortError after `abort`.
   */
  readonly finished: Promise<Import>;
  /** Ends the upload. A file that the server has received as a whole is applied all the same. */
  abort(): void;
}

interface Answer {
  readonly meta?: Parameters<typeof refusalOf>[1];
  /** Also of a file that was refused: the history has it. */
  readonly import?: Import;
}

function answerOf(text: string): Answer {
  try {
    return JSON.parse(text) as Answer;
  } catch {
    return {};
  }
}

/** Browsers read no more of a file that has changed on the disk, or is gone. The upload says only that it failed. */
const hasChanged = (file: File): Promise<boolean> =>
  file
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => false,
      () => true,
    );

/** Sends a file. `onProgress` is called with the bytes that were sent so far. */
export function sendFile({ resource, file, format, isDryRun, onProgress }: UploadRequest): Upload {
  const request = new XMLHttpRequest();
  const query = new URLSearchParams({ fileName: file.name, wait: `${waitS}`, dryRun: `${isDryRun}` });
  const finished = new Promise<Import>((resolve, reject) => {
    function rejectUnanswered(): void {
      reportUnreachable();
      reject(new Unreachable(true));
    }
    const patience = waitForAnswer(() => {
      rejectUnanswered();
      request.abort();
    });
    request.open('POST', `/v1/${resource}/import?${query}`);
    for (const [name, value] of Object.entries(callHeaders())) request.setRequestHeader(name, value);
    request.setRequestHeader('Content-Type', types[format]);
    if (isCompressed(file)) request.setRequestHeader('Content-Encoding', 'gzip');
    request.upload.onprogress = ({ loaded }) => {
      patience.restart();
      onProgress(loaded);
    };
    request.onloadend = patience.end;
    request.onabort = () => reject(new DOMException('The upload was ended.', 'AbortError'));
    request.onerror = async () => {
      if (await hasChanged(file)) reject(new Error('The file has changed. Choose it again.'));
      else rejectUnanswered();
    };
    request.onload = () => {
      const { status, responseText } = request;
      if (isOfGateway(status, request.getResponseHeader('content-type'))) return rejectUnanswered();
      reportReachable();
      const answer = answerOf(responseText);
      if (answer.import) resolve(answer.import);
      else reject(refusalOf(status, answer.meta, { retryAfter: request.getResponseHeader('retry-after') }));
    };
    request.send(file);
  });
  return { finished, abort: () => request.abort() };
}

/** Returns whether a file is compressed. Such files are sent as they are; the server unpacks them. */
export const isCompressed = ({ name }: File): boolean => name.toLowerCase().endsWith('.gz');
