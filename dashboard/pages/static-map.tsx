/** Composes the address of a static map: its parameters, the picture, and the code that shows it elsewhere. */
import { useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { callHeaders, type Scope, send } from '../client/call';
import { CopyButton, Notice, Page, Segments } from '../components/controls';
import { useSettled } from '../components/list-filters';
import { LoadProblem } from '../components/load-problem';
import { sizeText } from '../components/sizes';
import { problemAt } from '../forms/draft';
import {
  attribute,
  firstDraft,
  type MapDraft,
  parametersOf,
  placesTyped,
  queryText,
  shellWord,
} from '../forms/static-map';
import { builtInStyles, MarkerFields, PathFields, ViewFields } from '../forms/static-map-fields';
import { freshKey } from '../state/fresh-keys';
import { useScope, useWorkspace } from '../state/session';
import { useUnsaved } from '../state/unsaved';
import '../styles/static-map.css';

const settleMs = 450;

interface Picture {
  readonly blob: Blob;
  readonly milliseconds: number;
}

/** Fetches the picture, so that a refusal can be shown in the validator's words. */
async function fetchPicture(scope: Scope, query: string, signal: AbortSignal): Promise<Picture> {
  const startMs = performance.now();
  const url = `/maps/static?${query}`;
  const { body } = await send(url, { signal, headers: callHeaders(scope) }, (response) => response.blob());
  return { blob: body, milliseconds: performance.now() - startMs };
}

function usePicture(draft: MapDraft) {
  const scope = useScope();
  const query = useSettled(queryText(parametersOf(draft)), settleMs);
  return useQuery({
    queryKey: [scope, 'static map', query],
    queryFn: ({ signal }) => fetchPicture(scope, query, signal),
    // The last picture stays in sight while the next one is drawn, and while a value is refused.
    placeholderData: (previous, earlier) => (earlier?.queryKey[0] === scope ? previous : undefined),
    staleTime: 60_000,
  });
}

export default function StaticMap() {
  const [draft, setDraft] = useState(firstDraft);
  const picture = usePicture(draft);
  const [copied, setCopied] = useState('');
  const places = placesTyped(draft);
  useUnsaved(places !== '' && places !== copied);
  const change = (part: Partial<MapDraft>) => setDraft((now) => ({ ...now, ...part }));
  return (
    <Page title="Static maps" intro="Images of maps for pages, mails and apps: put one together, and copy its code.">
      <div className="composer">
        <div className="composer-picture stack">
          <Preview draft={draft} picture={picture} />
          <Code draft={draft} onCopied={() => setCopied(places)} />
        </div>
        <div className="stack">
          <ViewFields draft={draft} error={picture.error} change={change} />
          <MarkerFields draft={draft} error={picture.error} change={change} />
          <PathFields draft={draft} error={picture.error} change={change} />
        </div>
      </div>
    </Page>
  );
}

function pictureText({ blob, milliseconds }: { readonly blob: Blob; readonly milliseconds: number }): string {
  const format = blob.type.replace('image/', '').toUpperCase();
  return `${format}, ${sizeText(blob.size)}, in ${Math.round(milliseconds)} ms`;
}

const shownFields = ['width', 'height', 'scale', 'style', 'language', 'format', 'center', 'zoom', 'bbox', 'markers'];

function Preview({ draft, picture }: { readonly draft: MapDraft; readonly picture: ReturnType<typeof usePicture> }) {
  const [source, setSource] = useState<string>();
  const blob = picture.data?.blob;
  useEffect(() => {
    if (!blob) return;
    const url = URL.createObjectURL(blob);
    setSource(url);
    return () => URL.revokeObjectURL(url);
  }, [blob]);
  const { error } = picture;
  const isAtField = [...shownFields, 'path', 'geofences'].some((name) => problemAt(error, name) !== undefined);
  return (
    <section className="card" aria-label="Picture" aria-busy={picture.isFetching}>
      <div
        className={error || picture.isPlaceholderData ? 'composed stale' : 'composed'}
        style={{ aspectRatio: `${Number(draft.width) || 3} / ${Number(draft.height) || 2}` }}
      >
        {source ? <img src={source} alt="The map" /> : !error && <span className="spinner" />}
      </div>
      {error && !isAtField ? (
        <LoadProblem query={picture} isInCard />
      ) : (
        <p className="composed-foot quiet small" role="status">
          {error
            ? 'A value is not valid: see the field.'
            : picture.data
              ? pictureText(picture.data)
              : 'The picture is being drawn.'}
        </p>
      )}
    </section>
  );
}

const kinds = [
  { value: 'html', label: 'HTML' },
  { value: 'url', label: 'URL' },
  { value: 'curl', label: 'curl' },
] as const;

/** Returns the code. With geofences only a server may ask, with its secret key in a header. */
function codeOf(kind: (typeof kinds)[number]['value'], draft: MapDraft, key: string): string {
  const parameters = parametersOf(draft);
  const isSecret = draft.geofences.trim() !== '';
  const query = queryText(isSecret ? parameters : [['publishableKey', key], ...parameters]);
  const url = `${location.origin}/maps/static?${query}`;
  if (kind === 'url') return url;
  if (kind === 'html') return `<img src="${attribute(url)}" width="${draft.width}" height="${draft.height}" alt="Map">`;
  const name = draft.format || 'png';
  return `curl ${shellWord(url)}${isSecret ? ' -H "Authorization: $SECRET_KEY"' : ''} -o map.${name}`;
}

/** Returns the estimate of the documentation, without locations and geofences. */
function costOf({ width, height, scale, style }: MapDraft): number {
  const pixels = Number(width) * Number(height) * Number(scale) ** 2;
  const isUploaded = !builtInStyles.some(({ value }) => value === style);
  return Math.round((20 + (60 * (pixels || 0)) / 1_000_000) * (isUploaded ? 2 : 1));
}

function Code({ draft, onCopied }: { readonly draft: MapDraft; onCopied(): void }) {
  const { project, environment } = useWorkspace();
  const [kind, setKind] = useState<(typeof kinds)[number]['value']>('html');
  const known = freshKey(project._id, environment, 'publishable');
  const text = codeOf(kind, draft, known ?? `prj_${environment}_pk_…`);
  const isSecret = draft.geofences.trim() !== '';
  return (
    <section className="card" aria-label="Code">
      <div className="card-head">
        <h2>Code</h2>
        <Segments legend="Kind of code" value={kind} options={kinds} onChange={(next) => setKind(next)} />
      </div>
      <div className="card-body stack-tight">
        <div className="copyable">
          <pre>{text}</pre>
          <CopyButton text={text} label="Copy the code" onCopied={onCopied} />
        </div>
        {isSecret && kind !== 'curl' && (
          <Notice tone="warning">
            Geofences need a secret key, which must not be in a page. Let your server ask for this map.
          </Notice>
        )}
        <p className="quiet small">
          {known === undefined && !isSecret && 'Put your publishable key in place of the dots. '}
          This map costs about {costOf(draft)} ms of a processor. By default, a key may spend 1,000 a second, and 30,000
          at once; beyond that the answer is 429. Maps that are kept cost nothing.{' '}
          <a href="/docs#tag/maps" target="_blank" rel="noreferrer">
            All parameters
          </a>
        </p>
      </div>
    </section>
  );
}
