import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: '../dist/ui',
    emptyOutDir: true,
    target: 'es2023',
    // The daemon's policy refuses data: addresses for fonts and scripts, and inline scripts.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // The style sheet is small, and the order of its rules matters.
    cssCodeSplit: false,
    rolldownOptions: {
      output: {
        // A file for each shared module would be 86 requests per page load: a quarter of its processor time (measured).
        codeSplitting: {
          groups: [
            { name: 'start', tags: ['$initial'] },
            { name: 'shared', minShareCount: 2 },
          ],
        },
      },
    },
  },
});
