/** How files must look. */
import { Button, Dialog } from '../components/controls';
import { saveFile } from '../components/save-file';
import { columnsOf, type Resource, samples } from './columns';

export const SampleButton = ({ resource }: { readonly resource: Resource }) => (
  <Button
    icon="download"
    onClick={() => saveFile(`sample-${resource}.csv`, new Blob([samples[resource]], { type: 'text/csv' }))}
  >
    Sample file
  </Button>
);

export function Guide({ resource, onClose }: { readonly resource: Resource; onClose(): void }) {
  return (
    <Dialog title={`Files of ${resource}`} isWide onClose={onClose}>
      <div className="dialog-body">
        <p>
          CSV with a header, GeoJSON, or one JSON object per line; UTF-8. Files that end in .gz may be compressed. Rows
          name their record by the pair of <code>tag</code> and <code>externalId</code>, so importing a file again
          changes nothing.
        </p>
        <ul className="rules">
          <li>A row replaces its record as a whole. An empty cell clears the field.</li>
          <li>
            Coordinates are <code>[longitude, latitude]</code>, quoted in CSV.
            {resource === 'geofences' && ' A polygon has a closed list of them.'}
          </li>
          <li>
            Write metadata as JSON, or as a column per key: <code>metadata.city</code>.
            {resource === 'geofences' && (
              <>
                {' '}
                Operating hours as well: <code>operatingHours.mon</code>.
              </>
            )}
          </li>
          <li>Bad rows are left out and listed. An unknown column refuses the whole file.</li>
          <li>Nothing is deleted.</li>
        </ul>
        <h3>Columns</h3>
        <p className="row">
          {columnsOf(resource).map(({ name, isRequired }) => (
            <code key={name} className={isRequired ? 'badge accent' : 'badge'}>
              {name}
            </code>
          ))}
        </p>
        <p className="quiet">
          The first {columnsOf(resource).filter(({ isRequired }) => isRequired).length} are required. The{' '}
          <a href="/docs">API reference</a> says what each may hold. The guide is <code>docs/imports.md</code> of
          Fenceline.
        </p>
      </div>
      <div className="dialog-foot">
        <SampleButton resource={resource} />
        <Button look="primary" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}
