import type { Answer, Row } from "./pieces";

export type Place = Record<never, never> | { after: string } | { before: string } | { from: string };

export interface Source<R extends Row> {
  readPage(place: Place, limit: number): Reading<Answer<R>>;
  readKeys(query: { every: number; limit: number; from?: string; after?: string }): Reading<Sample>;
}

export interface Sample {
  items: string[];
  next: string | null;
}

export interface Reading<T> {
  answer: Promise<T>;
  cancel: () => void;
}

/** Something that is being read. One that `isKept` is read to its end, also if it is not in view any more. */
interface Read {
  name: string;
  isKept: boolean;
  cancel: () => void;
}

/** What is being read, each once, a few at a time. */
export class Reads {
  private current: Read[] = [];

  constructor(private readonly most: number) {}

  has = (name: string): boolean => this.current.some((read) => read.name === name);

  get isFull(): boolean {
    return this.current.length >= this.most;
  }

  /** Cancel the reads that are not needed; without names, all of them. */
  cancel(needed?: readonly string[]): void {
    for (const read of this.current) if (!needed || (!read.isKept && !needed.includes(read.name))) read.cancel();
  }

  /** Wait for a read; returns why it failed, and null also if it was cancelled. */
  async wait(name: string, isKept: boolean, work: Promise<void>, cancel: () => void): Promise<unknown> {
    let isCancelled = false;
    const read = {
      ...{ name, isKept },
      cancel: () => {
        isCancelled = true;
        cancel();
      },
    };
    this.current.push(read);
    try {
      await work;
      return null;
    } catch (error) {
      return isCancelled ? null : error;
    } finally {
      this.current = this.current.filter((each) => each !== read);
    }
  }
}
