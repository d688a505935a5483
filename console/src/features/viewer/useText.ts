import { useCallback, useEffect, useRef, useState } from "react";
import type { TextPart, TextReader } from "./textReaders";

export interface TextState {
  parts: string[];
  /** The last part that was read; null before the first. */
  last: TextPart | null;
  isDamaged: boolean;
  isLoading: boolean;
  error: unknown;
  more: () => void;
}

const NOTHING = { parts: [], last: null, isDamaged: false, isLoading: true, error: null };

/** The parts of a text that have been read. `open` begins anew whenever it changes. */
export function useText(open: () => TextReader): TextState {
  const [state, setState] = useState<Omit<TextState, "more">>(NOTHING);
  const current = useRef<{ reader: TextReader; ends: AbortController } | null>(null);
  const read = useCallback(async () => {
    const { reader, ends } = current.current!;
    setState((known) => ({ ...known, isLoading: true, error: null }));
    try {
      const part = await reader.next(ends.signal);
      if (ends.signal.aborted) return;
      setState((known) => ({
        parts: [...known.parts, part.text],
        last: part,
        isDamaged: known.isDamaged || part.isDamaged,
        isLoading: false,
        error: null,
      }));
    } catch (error) {
      if (!ends.signal.aborted) setState((known) => ({ ...known, isLoading: false, error }));
    }
  }, []);
  useEffect(() => {
    const ends = new AbortController();
    current.current = { reader: open(), ends };
    setState(NOTHING);
    void read();
    return () => ends.abort();
  }, [open, read]);
  return { ...state, more: () => void read() };
}
