/** Imports in words. Pure. */
import type { Import } from '../../client/types';
import { counted, grouped } from '../components/counts';

export const actionNames = {
  created: 'Created',
  updated: 'Updated',
  unchanged: 'Unchanged',
  rejected: 'Bad',
} as const;

/** Returns the result of an import as a heading. */
export function headlineOf({ status, dryRun, created, updated, rejected, lastLine, failure }: Import): string {
  const changes = created + updated;
  if (status === 'running') return dryRun ? 'The file is being checked' : 'The file is being imported';
  if (status === 'interrupted')
    return lastLine > 0 ? `Stopped after line ${grouped(lastLine)}` : 'Stopped before the first row';
  if (status === 'failed')
    return failure && failure.line > 1 ? `It ended on line ${grouped(failure.line)}` : 'The file was refused';
  if (dryRun) {
    if (changes > 0) return `${counted(changes, 'row')} would change something`;
    return rejected > 0 ? 'No row would be applied' : 'Nothing would change';
  }
  if (changes > 0) return `${counted(changes, 'row')} applied`;
  return rejected > 0 ? 'No row was applied' : 'Nothing changed';
}

/** Returns what to do about it; undefined: nothing. */
export function adviceOf(shown: Import): string | undefined {
  const { status, dryRun, created, updated, unchanged, rejected, rejectedFileCut } = shown;
  if (status === 'running') return undefined;
  if (status === 'interrupted')
    return dryRun
      ? 'Check the file again to see all of it.'
      : 'The rows before are applied. Import the file again to apply the rest.';
  if (rejectedFileCut && !dryRun)
    return 'Bad rows were left out. Only the first can be downloaded. Correct your file itself and import it again.';
  if (rejected > 0)
    return dryRun
      ? 'Bad rows are left out. Correct the file first, or import the good rows and correct the others later.'
      : 'Bad rows were left out. Download them, correct them in a spreadsheet, and import that file.';
  if (status === 'completed' && created + updated === 0 && unchanged > 0)
    return `Every record matches the file already.`;
  return undefined;
}
