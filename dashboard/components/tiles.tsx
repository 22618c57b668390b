/** A row of numbers, each with its name. */
import type { ReactNode } from 'react';

export const Tiles = ({ label, children }: { readonly label?: string; readonly children: ReactNode }) => (
  <dl className="tiles" aria-label={label}>
    {children}
  </dl>
);

interface TileProps {
  readonly label: ReactNode;
  /** Undefined: it is on its way. */
  readonly value: string | undefined;
  readonly unit?: string;
  readonly hint?: string;
  /** A picture of the number's past. */
  readonly children?: ReactNode;
}

export const Tile = ({ label, value, unit, hint, children }: TileProps) => (
  <div className="tile">
    <dt title={hint}>{label}</dt>
    <dd>
      {value === undefined ? (
        <span className="skeleton" role="status" aria-label="Loading" />
      ) : (
        <span className="tile-value">{value}</span>
      )}
      {unit && <span className="quiet small">{unit}</span>}
    </dd>
    {children}
  </div>
);
