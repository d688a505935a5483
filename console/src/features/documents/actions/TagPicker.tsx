import { useState } from "react";
import { Failure } from "../../../ui/Failure";
import { Untrusted } from "../../../ui/Untrusted";
import { Count } from "../../../ui/values";
import { useTyped } from "../facets";
import { Picker, type Choice } from "../filtering/Picker";
import { cleanName, refuseName } from "../filtering/tags";
import { orderTags } from "./order";

interface TagPickerProps {
  caseId: number;
  isRemoval: boolean;
  onChoose: (tag: string) => void;
}

/** A tag of the case, or a new one that is named so before it is made. */
export function TagPicker({ caseId, isRemoval, onChoose }: TagPickerProps) {
  const [typed, setTyped] = useState("");
  const name = cleanName(typed);
  const { found, isCurrent } = useTyped("tags", caseId, typed);
  const { known, isNew } = orderTags(found.data?.items ?? [], name);
  const refusal = isNew ? refuseName(name) : null;
  const choices = known.map(({ name: tag, documents }): Choice => {
    const choose = () => onChoose(tag);
    return { key: tag, label: <Untrusted text={tag} />, detail: <Count value={documents} />, choose };
  });
  if (!isRemoval && isNew && refusal === null && isCurrent)
    choices.push({
      key: "\nnew",
      label: (
        <>
          New tag “<Untrusted text={name} />”
        </>
      ),
      detail: "new",
      choose: () => onChoose(name),
    });
  return (
    <>
      <Picker
        label="Tag"
        typed={typed}
        onType={setTyped}
        choices={choices}
        isCurrent={isCurrent}
        autoFocus
        note={<Notes />}
      />
      {refusal && !isRemoval && (
        <p className="fault" role="alert">
          {refusal}
        </p>
      )}
      {isCurrent && choices.length === 0 && refusal === null && (
        <p className="quiet">
          {isRemoval ? "No tag of this case has these words." : "There are no tags yet. Type the name of one."}
        </p>
      )}
      {found.isError && <Failure error={found.error} again={() => void found.refetch()} />}
    </>
  );
}

function Notes() {
  return (
    <>
      Numbers are documents in the whole case. A \ puts a tag in another one: <code>Hot\Really Hot</code> is “Really
      Hot” in “Hot”. Enter takes the marked one.
    </>
  );
}
