/**
 * The file that is being imported, per account, project and environment. It stays while the reader looks at other
 * views, or signs in again: the upload goes on, and coming back shows how far it is. A reload of the page forgets the
 * file, not the import.
 */
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useSyncExternalStore } from 'react';
import type { Import } from '../../client/types';
import { callIn, Failure, type Scope } from '../client/call';
import { isEqual } from '../forms/draft';
import { useScope, useWorkspace } from '../state/session';
import type { Resource } from './columns';
import { type Format, formatOf, type Preview, previewBytes, previewOf } from './preview';
import { isCompressed, sendFile, type Upload } from './upload';

/** How far the import of a file has come. */
export interface Work {
  readonly resource: Resource;
  readonly file?: File;
  readonly format?: Format;
  readonly preview?: Preview;
  readonly upload?: { readonly isDryRun: boolean; readonly sentBytes: number };
  /** Why the file cannot be read, or was not accepted. */
  readonly problem?: unknown;
  /** Whether an import of the file had no answer, so that the server may have it. */
  readonly isUnanswered?: true;
  /** The dry run of the file, and its import. */
  readonly checkId?: string;
  readonly importId?: string;
}

const works = new Map<string, Work>();
const uploads = new Map<string, Upload>();
const listeners = new Set<() => void>();
const nothing: Work = { resource: 'geofences' };

function put(key: string, work: Work): void {
  works.set(key, work);
  for (const listener of listeners) listener();
}

// Only an upload is lost with the page.
addEventListener('beforeunload', (event) => {
  if (uploads.size > 0) event.preventDefault();
});

/** Spreadsheets are archives. */
const isSpreadsheet = (text: string): boolean => text.startsWith('PK\u0003\u0004');

/** Returns the beginning of the file as text, and how many of its bytes that is. */
async function readBeginning(file: File): Promise<{ text: string; bytes: { shown: number; total: number } }> {
  if (!isCompressed(file)) {
    const bytes = await file.slice(0, previewBytes).arrayBuffer();
    return { text: decoded(bytes), bytes: { shown: bytes.byteLength, total: file.size } };
  }
  const reader = file.stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  const chunks: BlobPart[] = [];
  let shown = 0;
  let isEnd = false;
  while (shown < previewBytes && !isEnd) {
    const { done, value } = await reader.read();
    isEnd = done;
    if (value) {
      chunks.push(value);
      shown += value.byteLength;
    }
  }
  await reader.cancel();
  // How well the rest is compressed is not known.
  const total = isEnd ? shown : Math.max(shown + 1, file.size * 4);
  return { text: decoded(await new Blob(chunks).arrayBuffer()), bytes: { shown, total } };
}

/** The last character may be cut, which is not a fault of the file. */
const decoded = (bytes: ArrayBuffer): string => new TextDecoder().decode(bytes, { stream: true });

/** What the page of imports does. */
export interface WorkActions {
  chooseResource(resource: Resource): void;
  /** Reads the beginning of the file. Nothing is sent. */
  choose(file: File): Promise<void>;
  /** Sends the file. Resolves with the import when the server has the file; undefined if it was not accepted. */
  send(isDryRun: boolean): Promise<Import | undefined>;
  /** Ends the upload. */
  cancel(): void;
  /** Forgets the file. */
  clear(): void;
}

/** The server remembers as many, of each kind. */
const maxRemembered = 100;

/** Returns the import that an attempt without an answer has started after the check; undefined: there is none. */
async function startedAfter(checkId: string, resource: Resource, scope: Scope): Promise<Import | undefined> {
  const { imports } = await callIn(scope, 'GET /v1/imports', { query: { resource, limit: maxRemembered } });
  const checkAt = imports.findIndex(({ _id }) => _id === checkId);
  const check = imports[checkAt];
  // The newest are the first.
  return imports
    .slice(0, Math.max(0, checkAt))
    .find(
      ({ dryRun, fileName, requestedBy }) =>
        !dryRun && fileName === check?.fileName && isEqual(requestedBy, check?.requestedBy),
    );
}

function actionsOf(key: string, scope: Scope): WorkActions {
  const get = (): Work => works.get(key) ?? nothing;

  async function choose(file: File, resource = get().resource): Promise<void> {
    put(key, { resource, file });
    try {
      const { text, bytes } = await readBeginning(file);
      if (get().file !== file) return;
      if (isSpreadsheet(text)) throw new Error('This is a spreadsheet. Save it as CSV, and choose that file.');
      const format = formatOf(file.name, text);
      put(key, { resource, file, format, preview: previewOf(resource, format, text, bytes) });
    } catch (problem) {
      put(key, { resource, problem });
    }
  }

  return {
    choose: (file) => choose(file),
    chooseResource(resource) {
      const { file } = get();
      if (file) void choose(file, resource);
      else put(key, { resource });
    },
    async send(isDryRun) {
      const { resource, file, format, preview, upload: present, checkId, isUnanswered } = get();
      if (!file || !format || !preview || present) return undefined;
      const chosen = { resource, file, format, preview };
      const before = isDryRun || checkId === undefined ? chosen : { ...chosen, checkId };
      const showSent = (sentBytes: number) => put(key, { ...before, upload: { isDryRun, sentBytes } });
      showSent(0);
      try {
        let started = isUnanswered && checkId ? await startedAfter(checkId, resource, scope) : undefined;
        if (started === undefined) {
          const upload = sendFile({ resource, file, format, isDryRun, onProgress: showSent });
          uploads.set(key, upload);
          started = await upload.finished;
        }
        put(key, { ...before, ...(isDryRun ? { checkId: started._id } : { importId: started._id }) });
        return started;
      } catch (problem) {
        // The sign-in says that a session has ended, and the file can be sent again after it.
        const isSaid = problem instanceof DOMException || (problem instanceof Failure && problem.status === 401);
        const isUnknown = isUnanswered || (!isDryRun && !(problem instanceof Failure));
        put(key, { ...before, ...(!isSaid && { problem }), ...(isUnknown && { isUnanswered: true }) });
        return undefined;
      } finally {
        uploads.delete(key);
      }
    },
    cancel: () => uploads.get(key)?.abort(),
    clear: () => put(key, { resource: get().resource }),
  };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Returns the work of the chosen project and environment, and what can be done with it. */
export function useWork(): Work & WorkActions {
  const client = useQueryClient();
  const scope = useScope();
  const { project, environment } = scope;
  // Nothing that one account has chosen is another one's.
  const key = `${useWorkspace().session.account?._id ?? ''}/${project}/${environment}`;
  const work = useSyncExternalStore(
    subscribe,
    useCallback(() => works.get(key) ?? nothing, [key]),
  );
  const actions = actionsOf(key, scope);
  return {
    ...work,
    ...actions,
    async send(isDryRun) {
      const started = await actions.send(isDryRun);
      // A short import has ended by now, so nothing follows it.
      void client.invalidateQueries({ queryKey: [scope, 'imports'] });
      if (started && !isDryRun) void client.invalidateQueries({ queryKey: [scope, started.resource] });
      return started;
    },
  };
}
