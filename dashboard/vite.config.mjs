// Builds the dashboard into dist/dashboard (build.mjs), and serves it while it is changed: npx vite dashboard
import { join } from 'node:path';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const server = process.env.FENCELINE_SERVER ?? 'http://127.0.0.1:8080';

export default defineConfig({
  root: import.meta.dirname,
  logLevel: 'warn',
  plugins: [react()],
  build: {
    outDir: join(import.meta.dirname, '../dist/dashboard'),
    emptyOutDir: true,
    // From it the server knows the files of a view.
    manifest: 'manifest.json',
    target: 'es2022',
    // The security policy allows images of data, but a file is cached.
    assetsInlineLimit: 0,
    // The map is larger than Vite's bound, and is loaded only by the views that show one.
    chunkSizeWarningLimit: 2_000,
    modulePreload: { polyfill: false },
    // A warning about the speed of plugins, which depends on how busy the machine is.
    rolldownOptions: { checks: { pluginTimings: false } },
  },
  server: { proxy: { '^/(v1|maps|docs|openapi.json|health)': server } },
});
