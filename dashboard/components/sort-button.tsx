/** The title of a column by which its table can be sorted. */
import type { ReactNode } from 'react';
import { Icon } from './icons';

export type Order = 'ascending' | 'descending';

interface Props {
  /** Undefined: the table is sorted by another column. */
  readonly order: Order | undefined;
  readonly children: ReactNode;
  onClick(event: unknown): void;
}

export const SortButton = ({ order, children, onClick }: Props) => (
  <button type="button" className="sort-button" onClick={onClick}>
    {children}
    <span className={`sort-mark ${order ? `shown ${order}` : ''}`}>
      <Icon name="chevron" size={12} />
    </span>
  </button>
);
