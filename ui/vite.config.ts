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
    // The daemon's policy refuses data: addresses for fonts and scripts, and scripts that are in the page itself.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    // Small, and the order of its rules counts.
    cssCodeSplit: false,
    // Those whose work is in it are named beside it.
    license: { fileName: 'licenses.md' },
  },
});
