/** Import of a file: choose it, look at it, check what would change, apply it. Below it, all imports. */
import { type DragEvent, useRef, useState } from 'react';
import type { Import } from '../../client/types';
import { urlOf } from '../client/call';
import { useApi } from '../client/hooks';
import { Button, Notice, Page, Segments } from '../components/controls';
import { counted } from '../components/counts';
import { DownloadLink } from '../components/download-link';
import { Icon } from '../components/icons';
import { sizeText } from '../components/sizes';
import { messageOf } from '../components/toasts';
import type { Resource } from '../importing/columns';
import { Guide, SampleButton } from '../importing/guide';
import { History } from '../importing/history';
import { ImportResult } from '../importing/import-result';
import type { Format } from '../importing/preview';
import { PreviewView } from '../importing/preview-view';
import { Progress } from '../importing/progress';
import { useWork, type Work, type WorkActions } from '../importing/work';
import { useWorkspace } from '../state/session';
import '../styles/import.css';

const resources = [
  { value: 'geofences', label: 'Geofences' },
  { value: 'beacons', label: 'Beacons' },
] as const satisfies readonly { value: Resource; label: string }[];

const formats: Record<Format, string> = { csv: 'CSV', geojson: 'GeoJSON', ndjson: 'Lines of JSON' };
const accepted =
  '.csv,.txt,.json,.geojson,.ndjson,.jsonl,.geojsonl,.geojsons,.geojsonseq,.gz,' +
  'text/csv,application/geo+json,application/json';

export default function ImportPage() {
  const { isOwner } = useWorkspace();
  const work = useWork();
  const [isGuideOpen, setGuideOpen] = useState(false);
  const { resource } = work;
  return (
    <Page
      title="Import"
      intro="Create and update geofences or beacons from a file. Nothing changes before you have seen a check's result."
      actions={<Exports resource={resource} />}
    >
      <div className="spread">
        <Segments legend="Kind" value={resource} options={resources} onChange={work.chooseResource} />
        <span className="row">
          <SampleButton resource={resource} />
          <Button icon="book" onClick={() => setGuideOpen(true)}>
            File format
          </Button>
        </span>
      </div>
      {isOwner ? <NewImport work={work} /> : <Notice>Only owners of the project import files.</Notice>}
      <History key={resource} resource={resource} />
      {isGuideOpen && <Guide resource={resource} onClose={() => setGuideOpen(false)} />}
    </Page>
  );
}

function Exports({ resource }: { readonly resource: Resource }) {
  const link = (format: Format, label: string) => (
    <DownloadLink className="button" href={urlOf(`/v1/${resource}/export`, { format })}>
      {label}
    </DownloadLink>
  );
  return (
    <>
      {link('csv', 'Export CSV')}
      {link('geojson', 'Export GeoJSON')}
    </>
  );
}

type Props = { readonly work: Work & WorkActions };

function NewImport({ work }: Props) {
  const { file, problem, checkId, importId } = work;
  return (
    <section className="stack" aria-label="New import">
      {file === undefined ? (
        <>
          <DropZone work={work} />
          <WorkProblem problem={problem} />
        </>
      ) : (
        <Chosen work={work} />
      )}
      {importId !== undefined ? (
        <ImportResult
          key={importId}
          id={importId}
          actions={() => <Button onClick={work.clear}>Import another file</Button>}
        />
      ) : (
        checkId !== undefined && (
          <ImportResult key={checkId} id={checkId} actions={(check) => <Apply work={work} check={check} />} />
        )
      )}
    </section>
  );
}

const WorkProblem = ({ problem }: { readonly problem: unknown }) =>
  problem !== undefined && (
    <Notice tone="danger" role="alert">
      {messageOf(problem)}
    </Notice>
  );

function DropZone({ work }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  const { data } = useApi('GET /v1/imports', { query: { resource: work.resource, limit: 1 } }, { staleTime: 60_000 });
  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer.files;
    if (file) void work.choose(file);
  }
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard
    <div
      className="card drop-zone"
      data-over={isOver || undefined}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={drop}
    >
      <Icon name="upload" size={24} />
      <h2>Drop a file of {work.resource} here</h2>
      <p className="quiet">
        CSV, GeoJSON or lines of JSON{data && `, up to ${sizeText(data.maxFileBytes)}`}. It stays in this browser until
        you check it.
      </p>
      <Button look="primary" onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      <input
        ref={input}
        type="file"
        className="visually-hidden"
        aria-label="File"
        tabIndex={-1}
        accept={accepted}
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file) void work.choose(file);
        }}
      />
    </div>
  );
}

function Chosen({ work }: Props) {
  const { file, format, preview, upload, problem, checkId, importId } = work;
  const isNew = checkId === undefined && importId === undefined;
  if (file === undefined) return null;
  return (
    <section className="card" aria-label="Chosen file">
      <div className="card-head">
        <div className="row file-name">
          <Icon name="file" />
          <h2 className="truncate left" dir="auto">
            {file.name}
          </h2>
          <span className="quiet">
            {format && `${formats[format]}, `}
            {sizeText(file.size)}
          </span>
        </div>
        <span className="row">
          {importId === undefined && (
            <Button onClick={work.clear} disabled={upload !== undefined}>
              Another file
            </Button>
          )}
          {isNew && (
            <Button
              look="primary"
              isBusy={upload !== undefined}
              disabled={preview === undefined}
              onClick={() => void work.send(true)}
            >
              Check the file
            </Button>
          )}
        </span>
      </div>
      {upload && (
        <div className="card-body">
          <Progress
            label="Progress of the upload"
            done={upload.sentBytes}
            total={file.size}
            text={
              upload.sentBytes < file.size
                ? `Sending: ${sizeText(upload.sentBytes)} of ${sizeText(file.size)}`
                : 'The server has the file and begins to read it'
            }
          >
            <Button onClick={work.cancel}>Cancel</Button>
          </Progress>
        </div>
      )}
      {problem !== undefined && (
        <div className="card-body">
          <WorkProblem problem={problem} />
        </div>
      )}
      {preview && isNew && <PreviewView preview={preview} />}
    </section>
  );
}

/** What follows a check. */
function Apply({ work, check }: Props & { readonly check: Import }) {
  const { created, updated, status } = check;
  const changes = created + updated;
  if (status !== 'completed' || changes === 0) {
    return (
      <Button isBusy={work.upload !== undefined} onClick={() => void work.send(true)}>
        Check again
      </Button>
    );
  }
  return (
    <Button look="primary" isBusy={work.upload !== undefined} onClick={() => void work.send(false)}>
      Import {counted(changes, 'row')}
    </Button>
  );
}
