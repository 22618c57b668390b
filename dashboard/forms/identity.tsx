/** The fields that name a geofence or a beacon, and whether it is enabled. */
import { Check, TextField } from '../components/controls';
import { Section } from './parts';
import type { RecordForm, RecordKind } from './record-form';

export const identityFields = ['description', 'tag', 'externalId'];

interface Draft {
  readonly description: string;
  readonly tag: string;
  readonly externalId: string;
  readonly enabled: boolean;
}

interface Props {
  readonly form: Pick<RecordForm<never, Draft>, 'draft' | 'text' | 'set'> & {
    readonly kind: Pick<RecordKind<never, never>, 'singular' | 'resource'>;
    readonly stored: unknown;
  };
  /** A tag, for the hint. */
  readonly example: string;
}

export function Identity({ form, example }: Props) {
  const { singular, resource } = form.kind;
  const isStored = form.stored !== undefined;
  return (
    <Section title="Identity">
      <div className="form-grid">
        <TextField className="wide" label="Description" {...form.text('description')} />
        <TextField
          label="Tag"
          hint={`Groups ${resource}, for example ${example}`}
          {...form.text('tag')}
          disabled={isStored}
        />
        <TextField
          label="External id"
          hint="Its name in your own system, unique within the tag"
          {...form.text('externalId')}
          disabled={isStored}
        />
      </div>
      <Check
        label="Enabled"
        hint={`A disabled ${singular} makes no events.`}
        isChecked={form.draft.enabled}
        onChange={form.set('enabled')}
      />
    </Section>
  );
}
