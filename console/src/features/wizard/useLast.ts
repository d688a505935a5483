import { useRef } from "react";

/** The newest value that is there: what was read before stays on the page while another attempt fails or runs. */
export function useLast<T>(value: T | null, isOld: boolean): T | null {
  const last = useRef<T | null>(null);
  if (value !== null && !isOld) last.current = value;
  return value ?? last.current;
}
