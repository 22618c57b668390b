/** Starts the page, which is loaded beside the first script. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, startTransition } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { Failure, Unreachable } from './client/call';
import { ToastProvider } from './components/toasts';
import { guardHistory } from './state/unsaved';
import { preloadView } from './views';

const maxRetries = 2;

const client = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // A refusal stays one. An unreachable server pauses the query, which runs again when the server answers.
      retry: (count, error) =>
        error instanceof Unreachable
          ? count < 1
          : !(error instanceof Failure && error.status < 500) && count < maxRetries,
    },
  },
});

/** Shows the page when its view is there, which the browser loads beside this script. */
export async function start(): Promise<void> {
  guardHistory();
  await preloadView(location.pathname);
  const root = createRoot(document.getElementById('root')!);
  // A transition is rendered in short tasks.
  startTransition(() =>
    root.render(
      <StrictMode>
        <QueryClientProvider client={client}>
          <ToastProvider>
            <App />
          </ToastProvider>
        </QueryClientProvider>
      </StrictMode>,
    ),
  );
}
