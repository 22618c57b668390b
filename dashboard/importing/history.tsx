/** The imports of an environment, newest first. */
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import type { Import } from '../../client/types';
import { useApi, usePages } from '../client/hooks';
import { Badge, Beneath, Button, Empty, Loading } from '../components/controls';
import { grouped } from '../components/counts';
import { LoadProblem } from '../components/load-problem';
import { RelativeTime } from '../components/relative-time';
import { PlainTable, type TableColumn } from '../components/table';
import type { Resource } from './columns';
import { StatusBadge } from './import-result';

const pageSize = 10;
const quickMs = 2_000;
const slowMs = 20_000;

/** Returns a function that names who asked for an import. A member has no name until the members are read. */
export function useRequesters(): (requestedBy: Import['requestedBy']) => string {
  const { data } = useApi('GET /v1/members', { query: { limit: 1_000 } }, { staleTime: 60_000 });
  return ({ kind, name }) => {
    if (kind === 'sync') return 'Nightly sync';
    if (kind === 'key') return name;
    if (data === undefined) return '';
    return data.members.find(({ _id }) => _id === name)?.email ?? 'One-time link';
  };
}

export function History({ resource }: { readonly resource: Resource }) {
  const [isRunning, setRunning] = useState(false);
  const nameOf = useRequesters();
  const pages = usePages(
    'GET /v1/imports',
    { query: { resource, limit: pageSize } },
    { refetchInterval: isRunning ? quickMs : slowMs },
  );
  const imports = pages.data?.pages.flatMap((page) => page.imports) ?? [];
  const hasRunning = imports.some(({ status }) => status === 'running');
  useEffect(() => setRunning(hasRunning), [hasRunning]);
  return (
    <section className="card" aria-label="History">
      <div className="card-head">
        <h2>History</h2>
        <p className="quiet small">The newest hundred are kept, ten of them with their rows.</p>
      </div>
      <LoadProblem query={pages} isInCard />
      {pages.isPending && <Loading rows={3} />}
      {pages.data && imports.length === 0 && (
        <Empty title={`No imports of ${resource} yet`}>
          <p>Imports of this page, of programs and of the nightly sync appear here.</p>
        </Empty>
      )}
      {imports.length > 0 && <ImportTable imports={imports} nameOf={nameOf} />}
      {pages.hasNextPage && (
        <div className="table-foot">
          <Button isBusy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            Older imports
          </Button>
        </div>
      )}
    </section>
  );
}

interface TableProps {
  readonly imports: readonly Import[];
  nameOf(requestedBy: Import['requestedBy']): string;
}

const numbers = [
  { name: 'created', title: 'Created', className: 'secondary number' },
  { name: 'updated', title: 'Updated', className: 'secondary number' },
  { name: 'unchanged', title: 'Unchanged', className: 'secondary number' },
  { name: 'rejected', title: 'Bad', className: 'number' },
] as const;

const columnsWith = (nameOf: TableProps['nameOf']): readonly TableColumn<Import>[] => [
  {
    title: 'File',
    className: 'name clip truncate',
    cell: ({ _id, fileName, createdAt }) => (
      <>
        <Link href={`/imports/${_id}`} title={fileName}>
          {fileName ?? 'Without a name'}
        </Link>
        <Beneath>
          <RelativeTime time={createdAt} />
        </Beneath>
      </>
    ),
  },
  {
    title: 'State',
    className: 'narrow',
    cell: (each) => (
      <span className="row tight">
        <StatusBadge shown={each} />
        {each.dryRun && <Badge>Check</Badge>}
      </span>
    ),
  },
  ...numbers.map(({ name, title, className }) => ({
    title,
    className,
    cell: (each: Import) => (each[name] === 0 ? <span className="quiet">0</span> : grouped(each[name])),
  })),
  { title: 'By', className: 'secondary clip-short truncate', cell: ({ requestedBy }) => nameOf(requestedBy) },
  {
    title: 'When',
    className: 'narrow told-beneath',
    cell: ({ createdAt }) => (
      <span className="quiet">
        <RelativeTime time={createdAt} />
      </span>
    ),
  },
];

export const ImportTable = ({ imports, nameOf }: TableProps) => (
  <PlainTable columns={columnsWith(nameOf)} rows={imports} />
);
