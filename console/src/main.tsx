import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ApiError } from "./api/client";
import { watchReads } from "./api/reach";
import { App } from "./app";
import { startSession } from "./auth/session";
import "./ui/styles.css";

/** What the server has refused is not repeated; an outage and a throttled request are, with growing pauses. */
function isWorthRepeating(count: number, error: unknown): boolean {
  const isFinal = error instanceof ApiError && error.status < 500 && error.status !== 429;
  return count < 3 && !isFinal;
}

const queries = new QueryClient({
  defaultOptions: {
    queries: { staleTime: 5_000, retry: isWorthRepeating, refetchOnWindowFocus: false },
    // What changes something fails at once without a network: by default it would be sent later, unseen.
    mutations: { networkMode: "always" },
  },
});

watchReads(queries);
void startSession();
createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <QueryClientProvider client={queries}>
      <App />
    </QueryClientProvider>
  </StrictMode>,
);
