import { useId, type FormEvent } from "react";

/** Jumps to a control number; it is a place in the list, and takes no document away. */
export function GoTo({ from, onGo }: { from: string | undefined; onGo: (controlNumber: string) => void }) {
  const id = useId();
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const entered = String(new FormData(event.currentTarget).get("from") ?? "").trim();
    if (entered) onGo(entered);
  };
  return (
    <form className="bar go-to" aria-label="Go to" onSubmit={submit}>
      <span className="field">
        <label htmlFor={id}>Go to control number</label>
        <input id={id} name="from" defaultValue={from ?? ""} maxLength={255} autoComplete="off" spellCheck={false} />
      </span>
      <button type="submit">Go</button>
    </form>
  );
}
