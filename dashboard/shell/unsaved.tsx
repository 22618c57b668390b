import { Confirm } from '../components/controls';
import { type Loss, useWaiting } from '../state/unsaved';

const words: Record<Loss, { readonly title: string; readonly action: string; readonly text: string }> = {
  changes: { title: 'Discard your changes?', action: 'Discard', text: 'Your changes are not saved yet.' },
  secret: { title: 'Leave without a copy?', action: 'Leave', text: 'This is shown only this once.' },
  answer: {
    title: 'Leave before the answer?',
    action: 'Leave',
    text: 'The server has not answered yet. The change may be made all the same.',
  },
};

/** The question before something is lost. */
export function UnsavedQuestion() {
  const waiting = useWaiting();
  if (waiting === undefined) return null;
  const { title, action, text } = words[waiting.loss];
  return (
    <Confirm title={title} action={action} onConfirm={waiting.proceed} onClose={waiting.stay}>
      <p>{text}</p>
    </Confirm>
  );
}
