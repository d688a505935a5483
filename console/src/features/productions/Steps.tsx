import type { Schemas } from "../../api/client";
import { toWords } from "../../ui/messages";
import { Untrusted } from "../../ui/Untrusted";
import { Time } from "../../ui/values";
import { describeStep, findCurrent, nameStep } from "./states";

type Production = Schemas["Production"];
type Step = Schemas["ProductionStep"];

const MARKS: Record<Step["status"], string> = { completed: "✓", failed: "✕", compensated: "↶", pending: "·" };

/** The steps as a list, each with what it is doing and when that was last known. */
export function Steps({ production }: { production: Production }) {
  const current = findCurrent(production);
  return (
    <section aria-labelledby="steps">
      <h2 id="steps">Steps</h2>
      <ol className="steps">
        {production.steps.map((step) => (
          <StepLine key={step.name} step={step} production={production} isNext={step.name === current?.name} />
        ))}
      </ol>
    </section>
  );
}

function StepLine({ step, production, isNext }: { step: Step; production: Production; isNext: boolean }) {
  const isCounted = isNext && step.total !== null;
  return (
    <li
      className={isNext ? "current" : step.status === "failed" ? "failed" : undefined}
      aria-current={isNext ? "step" : undefined}
    >
      <span>
        <span className="mark" aria-hidden="true">
          {isNext ? "▸" : MARKS[step.status]}
        </span>
        {nameStep(step.name)}
      </span>
      <span>
        {describeStep(step, production, isNext)}
        {isCounted && (
          <progress aria-label={nameStep(step.name)} value={step.done ?? 0} max={Math.max(step.total ?? 1, 1)} />
        )}
      </span>
      {step.status === "pending" ? <span /> : <Time value={step.updatedAt} />}
      {step.reason && (
        <p className="reason">
          <Untrusted text={toWords(step.reason)} />
        </p>
      )}
    </li>
  );
}
