import { Confirm } from '../components/controls';
import { useWaiting } from '../state/unsaved';

/** The question before unsaved changes are lost. */
export function UnsavedQuestion() {
  const waiting = useWaiting();
  if (waiting === undefined) return null;
  return (
    <Confirm title="Discard your changes?" action="Discard" onConfirm={waiting.proceed} onClose={waiting.stay}>
      <p>Your changes are not saved yet.</p>
    </Confirm>
  );
}
