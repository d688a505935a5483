// Taggings of many documents: in requests of at most 1,000, each with a key of its own, so that those that failed can be
// sent again and none takes effect twice.
export const BATCH = 1_000;

export interface Batch {
  ids: number[];
  key: string;
}

export interface Outcome {
  /** How many documents are done, and how many of them were changed by it. */
  documents: number;
  changed: number;
  /** What was not done, and why the last of it was not. */
  failed: Batch[];
  error: unknown;
}

/** Return the documents in batches, each with the key under which all attempts of it take effect once. */
export function toBatches(ids: Iterable<number>, makeKey: () => string = () => crypto.randomUUID()): Batch[] {
  const all = [...ids];
  return Array.from({ length: Math.ceil(all.length / BATCH) }, (_, number) => ({
    ids: all.slice(number * BATCH, (number + 1) * BATCH),
    key: makeKey(),
  }));
}

/**
 * Send the batches one after the other, and go on after one that failed; those after `isStopped` are left as failed.
 *
 * `send` returns how many documents it changed; `onDone` gets how many documents are done each time that it changes.
 */
export async function sendBatches(
  batches: readonly Batch[],
  send: (batch: Batch) => Promise<number>,
  onDone: (documents: number) => void,
  isStopped: () => boolean = () => false,
  before: Outcome = { documents: 0, changed: 0, failed: [], error: null },
): Promise<Outcome> {
  const outcome: Outcome = { ...before, failed: [], error: null };
  for (const batch of batches) {
    if (isStopped()) {
      outcome.failed.push(batch);
      continue;
    }
    try {
      outcome.changed += await send(batch);
      outcome.documents += batch.ids.length;
      onDone(outcome.documents);
    } catch (error) {
      outcome.failed.push(batch);
      outcome.error = error;
    }
  }
  return outcome;
}
