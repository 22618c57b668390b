import { fileURLToPath } from 'node:url';

/** The compiled command line. PROGRAM_UNDER_TEST names one of another checkout. */
export const program =
  process.env.PROGRAM_UNDER_TEST ?? fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
