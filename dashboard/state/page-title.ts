/** What a tab of the browser, a bookmark and the browser's history call a view. */
import { type RefObject, useEffect } from 'react';
import { environmentNames, useWorkspace } from './session';

const appTitle = 'Fenceline';

/** Whoever is signed out sees no name of a project. */
const forgetTitle = (): void => {
  document.title = appTitle;
};

/** Names the view with its project and environment, so that tabs of Test and Live differ. */
export function usePageTitle(title: string): void {
  const { project, environment } = useWorkspace();
  const place = `${project.name}, ${environmentNames[environment]}`;
  useEffect(() => {
    document.title = `${title} · ${place} · ${appTitle}`;
    return forgetTitle;
  }, [title, place]);
}

/** Names what people see who are not in a project, by its heading. */
export function useTitleOf(heading: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    document.title = `${heading.current?.textContent} · ${appTitle}`;
    return forgetTitle;
  });
}
