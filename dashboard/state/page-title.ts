/** What a tab of the browser, a bookmark and the browser's history call a view. */
import { useEffect } from 'react';
import { environmentNames, useWorkspace } from './session';

const appTitle = 'Fenceline';

/** Names the view with its project and environment, so that tabs of Test and Live differ. */
export function usePageTitle(title: string): void {
  const { project, environment } = useWorkspace();
  const place = `${project.name}, ${environmentNames[environment]}`;
  useEffect(() => {
    document.title = `${title} · ${place} · ${appTitle}`;
    return () => {
      // Whoever is signed out sees no name of a project.
      document.title = appTitle;
    };
  }, [title, place]);
}
