/** Starts the dashboard. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { Failure, Unreachable } from './client/call';
import { ToastProvider } from './components/toasts';
import { applyTheme } from './state/theme';
import { preloadView } from './views';
import './styles/tokens.css';
import './styles/base.css';
import './styles/components.css';
import './styles/layout.css';

applyTheme();
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

/** Waits for the view, which the browser loads beside this script, so that it is in the first picture. */
async function start(): Promise<void> {
  await preloadView(location.pathname);
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={client}>
        <ToastProvider>
          <App />
        </ToastProvider>
      </QueryClientProvider>
    </StrictMode>,
  );
}
void start();
