import { useMutation } from "@tanstack/react-query";
import { useId, useState, type FormEvent } from "react";
import type { Schemas } from "../../api/client";
import { useMe } from "../../api/me";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Untrusted } from "../../ui/Untrusted";
import type { Options } from "./kept";
import { toProfile } from "./options";
import { saveProfile } from "./requests";

interface ProfilesProps {
  preview: Schemas["ImportPreview"];
  options: Options;
  profile: string | null;
  canChange: boolean;
  onChange: (options: Options, profile?: string | null) => void;
}

/** Profiles that were made from files with this header, and a place to make one. */
export function Profiles({ preview, options, profile, canChange, onChange }: ProfilesProps) {
  const [isSaving, setSaving] = useState(false);
  // A profile belongs to no case, so that users who are limited to cases have none.
  if (useMe().data?.cases != null) return null;
  const offered = preview.suggestedProfiles.filter((each) => each.name !== profile).slice(0, 3);
  return (
    <div className="bar">
      {profile !== null && (
        <span>
          Read with the profile <Untrusted text={profile} />{" "}
          <button type="button" disabled={!canChange} onClick={() => onChange(options, null)}>
            Stop using it
          </button>
        </span>
      )}
      {offered.map((each) => (
        <span key={each.name}>
          The profile <Untrusted text={each.name} /> fits this header.{" "}
          <button type="button" disabled={!canChange} onClick={() => onChange(options, each.name)}>
            Use it<span className="unseen">: {each.name}</span>
          </button>
        </span>
      ))}
      <button type="button" onClick={() => setSaving(true)}>
        Save as profile
      </button>
      {isSaving && <SaveProfile preview={preview} options={options} onClose={() => setSaving(false)} />}
    </div>
  );
}

function SaveProfile(props: { preview: Schemas["ImportPreview"]; options: Options; onClose: () => void }) {
  const { preview, options, onClose } = props;
  const id = useId();
  const [name, setName] = useState("");
  const [key, setKey] = useState(() => crypto.randomUUID());
  const save = useMutation({
    mutationFn: () => {
      const { headerFingerprint, columns } = preview;
      return saveProfile({ name: name.trim(), headerFingerprint, options: toProfile(options, columns) }, key);
    },
    onSuccess: () => announce("The profile is saved."),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // `onClose` is not called after the dialog was closed: another one may be open by then.
    save.mutate(undefined, { onSuccess: onClose });
  };
  return (
    <Dialog title="Save as profile" open onClose={onClose}>
      <p className="quiet">
        The next file with this header is offered the same reading and the same fields. What was detected is detected
        again.
      </p>
      <form className="fields" onSubmit={submit}>
        <label htmlFor={id}>Name</label>
        <input
          id={id}
          value={name}
          required
          maxLength={255}
          onChange={(event) => {
            setName(event.target.value);
            setKey(crypto.randomUUID());
          }}
        />
        <button type="submit" className="primary" disabled={save.isPending || !name.trim()}>
          Save profile
        </button>
      </form>
      {save.isError && <Failure error={save.error} />}
    </Dialog>
  );
}
