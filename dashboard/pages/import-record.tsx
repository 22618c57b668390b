/** One import of the history. */
import { Link, useParams } from 'wouter';
import type { Import } from '../../client/types';
import { useApi } from '../client/hooks';
import { Loading, Page } from '../components/controls';
import { Icon } from '../components/icons';
import { LoadProblem } from '../components/load-problem';
import { sizeText } from '../components/sizes';
import { absoluteTime } from '../components/time';
import { useRequesters } from '../importing/history';
import { ImportResult } from '../importing/import-result';
import '../styles/import.css';

const back = (
  <Link href="/imports" className="back">
    <Icon name="back" size={14} /> Import
  </Link>
);

const absent = { title: 'This import does not exist', reason: 'The newest hundred of each kind are kept.' };

export default function ImportRecordPage() {
  const { id } = useParams<{ id: string }>();
  const loaded = useApi('GET /v1/imports/{id}', { path: { id } });
  if (loaded.data === undefined) {
    return (
      <Page title="Import" above={back}>
        {loaded.error ? <LoadProblem query={loaded} absent={absent} /> : <Loading />}
      </Page>
    );
  }
  const { import: shown } = loaded.data;
  return (
    <Page
      title={shown.fileName ?? 'Import without a name'}
      above={back}
      intro={`${shown.dryRun ? 'Check' : 'Import'} of ${shown.resource}`}
    >
      <Facts shown={shown} />
      <ImportResult id={id} />
    </Page>
  );
}

function Facts({ shown }: { readonly shown: Import }) {
  const nameOf = useRequesters();
  const facts: readonly (readonly [name: string, value: string])[] = [
    ['Started', absoluteTime(shown.createdAt)],
    ['Ended', shown.finishedAt === undefined ? 'Not yet' : absoluteTime(shown.finishedAt)],
    ['By', nameOf(shown.requestedBy)],
    ['Size', sizeText(shown.bytesTotal ?? shown.bytesRead)],
  ];
  return (
    <dl className="facts card card-body">
      {facts.map(([name, value]) => (
        <div key={name} className="fact">
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
