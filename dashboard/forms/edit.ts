/** The draft of a form whose record may be read again while it is open. */
import { useState } from 'react';
import { Failure, isNotFound, revisionOf, type Scope } from '../client/call';
import { useChange, useRefresh } from '../client/hooks';
import { useUnsaved } from '../state/unsaved';
import { draftFields, isEqual, problemAt } from './draft';

/** A draft, and the states of its record that the page has read. */
export interface Edit<Loaded, Draft> {
  /** With this the draft began, or it shows the same in the form. Its revision is the one that is saved over. */
  readonly opened: Loaded;
  /** The last state that was looked at. */
  readonly seen: Loaded;
  readonly draft: Draft;
}

/** What is read of a record. Undefined: there is none yet. */
type Read = { readonly meta: object } | undefined;

/** Returns the draft of a state: plain values, which are compared as JSON. */
type DraftOf<Loaded, Draft> = (loaded: Loaded) => Draft;

/** Returns an edit of a state that was just read, with nothing typed. */
export const beginEdit = <Loaded, Draft>(loaded: Loaded, draftOf: DraftOf<Loaded, Draft>): Edit<Loaded, Draft> => ({
  opened: loaded,
  seen: loaded,
  draft: draftOf(loaded),
});

/**
 * Takes over a state that was read again. What is typed stays. Where the form shows another state than the one it began
 * with, the earlier revision stays too, so that saving is refused instead of overwriting somebody else's change. Where
 * the record is gone, none stays: the form makes a new one.
 */
export function withLoaded<Loaded, Draft>(
  edit: Edit<Loaded, Draft>,
  loaded: Loaded,
  draftOf: DraftOf<Loaded, Draft>,
): Edit<Loaded, Draft> {
  if (loaded === edit.seen) return edit;
  const initial = draftOf(edit.opened);
  if (isEqual(edit.draft, initial)) return beginEdit(loaded, draftOf);
  const isSame = loaded === undefined || isEqual(initial, draftOf(loaded));
  return { ...edit, seen: loaded, opened: isSame ? loaded : edit.opened };
}

/** Tests whether an edit was refused because another one came first. */
export const isOutdated = (error: unknown): boolean => error instanceof Failure && error.status === 412;

/**
 * Resolves to the present state of a record where an edit of it is refused, but has succeeded: an earlier attempt
 * without an answer did it.
 */
export async function unlessDone<Saved, Loaded>(
  edit: Promise<Saved>,
  load: () => Promise<Loaded>,
  isDone: (present: Loaded) => boolean,
): Promise<Saved | Loaded> {
  try {
    return await edit;
  } catch (error) {
    if (!isOutdated(error)) throw error;
    const present = await load();
    if (!isDone(present)) throw error;
    return present;
  }
}

interface Saving<Loaded, Saved> {
  load(): Promise<Loaded>;
  save(revision: string | undefined): Promise<Saved>;
}

/**
 * Saves over the opened state. Where another one has replaced it that shows the same in the form, saves over that: the
 * record may hold more than the form, as a project's record holds its members.
 */
export async function saveOver<Loaded extends Read, Draft, Saved>(
  opened: Loaded,
  draftOf: DraftOf<Loaded, Draft>,
  { load, save }: Saving<Loaded, Saved>,
): Promise<Saved> {
  try {
    return await save(revisionOf(opened));
  } catch (error) {
    if (!isOutdated(error)) throw error;
    const present = await load();
    if (!isEqual(draftOf(opened), draftOf(present))) throw error;
    return save(revisionOf(present));
  }
}

interface Form<Loaded, Draft, Saved> {
  load(scope: Scope): Promise<Loaded>;
  save(
    scope: Scope,
    edit: { readonly initial: Draft; readonly draft: Draft; readonly ifMatch: string | undefined },
  ): Promise<Saved>;
  /** Makes a new record of the draft, where the record is gone. Absent: nobody can. */
  create?(scope: Scope, draft: Draft): Promise<Saved>;
}

/**
 * Holds the form of a record, and asks before it is left with changes.
 * @param resources are read again when it is saved.
 */
export function useSavedForm<Loaded extends Read, Draft extends object, Saved extends Loaded>(
  loaded: Loaded,
  draftOf: DraftOf<Loaded, Draft>,
  { load, save, create }: Form<Loaded, Draft, Saved>,
  ...resources: string[]
) {
  const [held, setEdit] = useState(() => beginEdit(loaded, draftOf));
  const edit = withLoaded(held, loaded, draftOf);
  if (edit !== held) setEdit(edit);
  const { opened, draft } = edit;
  const initial = draftOf(opened);
  const isChanged = !isEqual(draft, initial);
  const forget = useUnsaved(isChanged);
  const refresh = useRefresh(...resources);
  async function saveOpened(scope: Scope): Promise<Saved | Loaded> {
    const present = () => load(scope);
    try {
      return await unlessDone(
        saveOver(opened, draftOf, { load: present, save: (ifMatch) => save(scope, { initial, draft, ifMatch }) }),
        present,
        (state) => isEqual(draftOf(state), draft),
      );
    } catch (error) {
      // The rest of the view shows what is gone.
      if (isNotFound(error)) void refresh();
      throw error;
    }
  }
  const saving = useChange(
    async (isNew: boolean, scope) => {
      const saved = isNew && create ? await create(scope, draft) : await saveOpened(scope);
      setEdit((now) => ({ ...beginEdit<Loaded, Draft>(saved, draftOf), seen: now.seen }));
      return saved;
    },
    ...resources,
  );
  return {
    ...draftFields(
      draft,
      (change) => setEdit((now) => ({ ...now, draft: change(now.draft) })),
      (param) => problemAt(saving.error, param),
    ),
    isChanged,
    error: saving.error,
    isSaving: saving.isPending,
    /** Gives up what is typed, so that the last state that was read is shown, and then the next one. */
    discard() {
      forget();
      setEdit((now) => beginEdit(now.opened, draftOf));
      saving.reset();
    },
    /**
     * Saves the draft, and begins again with the answer. Resolves to that, or to undefined if it was refused: `error`
     * says why. It also resolves when the form was left meanwhile; a callback would not be called.
     */
    save: (): Promise<Saved | Loaded | undefined> => saving.mutateAsync(false).catch(() => undefined),
    /** Does what `save` does, but makes a new record in place of the one that is gone. */
    saveAsNew: (): Promise<Saved | Loaded | undefined> => saving.mutateAsync(true).catch(() => undefined),
  };
}
