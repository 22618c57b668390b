/** The editor of metadata: names, values and their types. */
import { useId } from 'react';
import { Button } from '../components/controls';
import { type Problem, ProblemText } from '../components/problem';
import { type MetadataRow, newRow, problemAt } from './draft';
import { useFocusOfRows } from './focus-of-rows';
import { Section } from './parts';
import type { RecordForm } from './record-form';

interface Props {
  readonly rows: readonly MetadataRow[];
  readonly problem: Problem | undefined;
  onChange(rows: readonly MetadataRow[]): void;
}

const maxRows = 16;

function MetadataEditor({ rows, problem, onChange }: Props) {
  const problemId = useId();
  const { editor, focusNext } = useFocusOfRows();
  /** Returns what marks the value that the problem is about. */
  const marked = (name: string) =>
    typeof problem === 'object' && problem.part === name && { 'aria-invalid': true, 'aria-describedby': problemId };
  const set = (id: number, change: Partial<MetadataRow>) =>
    onChange(rows.map((row) => (row.id === id ? { ...row, ...change } : row)));
  function add(): void {
    onChange([...rows, newRow()]);
    focusNext('.pair:last-child input:first-child');
  }
  function remove(id: number): void {
    onChange(rows.filter((row) => row.id !== id));
    focusNext('.row button');
  }
  return (
    <div className="stack-tight" ref={editor}>
      {rows.length === 0 && <p className="quiet">No metadata. Events of the record carry what is written here.</p>}
      {rows.length > 0 && (
        <ul className="pairs">
          {rows.map(({ id, name, value, type }) => (
            <li key={id} className="pair">
              <input
                dir="auto"
                className="input"
                aria-label="Name"
                placeholder="name"
                value={name}
                onChange={(event) => set(id, { name: event.target.value })}
              />
              {type === 'boolean' ? (
                <select
                  className="input"
                  aria-label={`Value of ${name}`}
                  value={value === 'true' ? 'true' : 'false'}
                  onChange={(event) => set(id, { value: event.target.value })}
                >
                  <option value="true">true</option>
                  <option value="false">false</option>
                </select>
              ) : (
                <input
                  dir="auto"
                  className="input"
                  aria-label={`Value of ${name}`}
                  placeholder="value"
                  inputMode={type === 'number' ? 'decimal' : 'text'}
                  value={value}
                  {...marked(name)}
                  onChange={(event) => set(id, { value: event.target.value })}
                />
              )}
              <select
                className="input pair-type"
                aria-label={`Type of ${name}`}
                value={type}
                onChange={(event) => set(id, { type: event.target.value as MetadataRow['type'] })}
              >
                <option value="text">text</option>
                <option value="number">number</option>
                <option value="boolean">boolean</option>
              </select>
              <Button
                look="plain"
                icon="close"
                aria-label={`Remove ${name || 'this row'}`}
                onClick={() => remove(id)}
              />
            </li>
          ))}
        </ul>
      )}
      <ProblemText label="Metadata" problem={problem} id={problemId} />
      <div className="row">
        <Button isCompact icon="plus" disabled={rows.length >= maxRows} onClick={add}>
          Add a value
        </Button>
        {rows.length >= maxRows && <span className="quiet small">A record has {maxRows} values at most.</span>}
      </div>
    </div>
  );
}

type Form = Pick<RecordForm<never, { readonly metadata: readonly MetadataRow[] }>, 'draft' | 'error' | 'set'>;

/** Shows metadata as rows of name, type and value. */
export const MetadataSection = ({ form }: { readonly form: Form }) => (
  <Section title="Metadata">
    <MetadataEditor
      rows={form.draft.metadata}
      problem={problemAt(form.error, 'metadata')}
      onChange={form.set('metadata')}
    />
  </Section>
);
