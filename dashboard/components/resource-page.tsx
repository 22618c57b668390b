/** The page of the list of geofences or of beacons. */
import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Answer } from '../client/call';
import { usePages } from '../client/hooks';
import { useWorkspace } from '../state/session';
import { Page } from './controls';
import { useListFilters } from './list-filters';
import { type Column, columnsWith, type Listed, NoRows, ResourceList } from './resource-list';

type Resource = 'geofences' | 'beacons';

interface Props<Row extends Listed> {
  readonly resource: Resource;
  readonly title: string;
  readonly intro: string;
  /** What one is, for those who have none. */
  readonly definition: ReactNode;
  /** The column that only this kind has. */
  readonly column: Column<Row>;
}

/** A record has up to some kilobytes of positions. The first rows come soon, and others while one scrolls. */
const pageRows = 50;

export function ResourcePage<Row extends Listed>({ resource, title, intro, definition, column }: Props<Row>) {
  const { isOwner } = useWorkspace();
  const filters = useListFilters(resource);
  const query = { ...filters.conditions, sort: filters.sort, limit: pageRows };
  const pages = usePages(`GET /v1/${resource}`, { query });
  const rowsOf = (page: Answer<`GET /v1/${Resource}`>) =>
    (page as unknown as Record<Resource, readonly Row[]>)[resource];
  const create = (
    <Link href={`/${resource}/new`} className="button primary">
      New {resource.replace(/s$/, '')}
    </Link>
  );
  return (
    <Page title={title} intro={intro} actions={isOwner && create}>
      <ResourceList
        resource={resource}
        rows={pages.data?.pages.flatMap(rowsOf) ?? []}
        columns={columnsWith<Row>(resource, column)}
        pages={pages}
        filters={filters}
        empty={
          <NoRows
            isFiltered={filters.isFiltered}
            title={`No ${resource} yet`}
            actions={
              isOwner && (
                <>
                  {create}
                  {resource === 'geofences' && (
                    <Link href="/imports" className="button">
                      Import a file
                    </Link>
                  )}
                </>
              )
            }
            onClear={filters.clear}
          >
            {definition}
          </NoRows>
        }
      />
    </Page>
  );
}
