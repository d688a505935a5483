import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The page is at /console/ of every origin: `make local`, API Gateway, a domain of one's own. It is built into the
// folder of the function that serves it.
export default defineConfig({
  base: "/console/",
  plugins: [react()],
  build: {
    outDir: "../functions/console_files",
    emptyOutDir: true,
    target: "es2022",
    // data: URLs for small files would need a wider content security policy, and the polyfill is an inline script.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
});
