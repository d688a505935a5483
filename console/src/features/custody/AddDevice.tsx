import { useMutation } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { Link, useLocation } from "wouter";
import type { Schemas } from "../../api/client";
import { Dialog } from "../../ui/Dialog";
import { Failure } from "../../ui/Failure";
import { announce } from "../../ui/LiveRegion";
import { Untrusted } from "../../ui/Untrusted";
import { useLabel } from "./LabelDialog";
import { findDevice } from "./queries";
import { SubmitBar } from "./SubmitBar";

/** Add a device by its number; one that exists is not labelled anew. */
export function AddDevice({ onClose }: { onClose: () => void }) {
  const [, navigate] = useLocation();
  const [number, setNumber] = useState("");
  const [label, setLabel] = useState("");
  const save = useLabel();
  const add = useMutation({
    mutationFn: async (deviceId: number) => {
      const found = await findDevice(deviceId);
      if (found) return found;
      await save.mutateAsync({ deviceId, label: label.trim() || null });
      announce("The device was added.");
      return null;
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const deviceId = Number(number);
    // This is not called after the dialog was closed: the user may be on another page by then.
    const onSuccess = (found: Schemas["Device"] | null) => {
      if (!found) navigate(`/custody/${deviceId}`);
    };
    add.mutate(deviceId, { onSuccess });
  };
  return (
    <Dialog title="Add a device" open onClose={onClose}>
      <form className="form" onSubmit={submit}>
        <div className="field">
          <label htmlFor="device-number">Number, such as that of its evidence tag</label>
          <input
            id="device-number"
            inputMode="numeric"
            pattern="[1-9][0-9]{0,14}"
            title="A whole number of up to 15 digits"
            required
            autoFocus
            autoComplete="off"
            value={number}
            onChange={(event) => setNumber(event.target.value)}
          />
        </div>
        <div className="field">
          <label htmlFor="new-label">Label (optional), such as “Ada’s laptop, asset 100”</label>
          <input
            id="new-label"
            value={label}
            maxLength={255}
            autoComplete="off"
            onChange={(event) => setLabel(event.target.value)}
          />
        </div>
        {add.data && (
          <div className="notice bad" role="alert">
            <strong>Not added: there is a device {add.data.deviceId}</strong>
            <p>
              It is called <Untrusted text={add.data.label} />.{" "}
              <Link href={`/custody/${add.data.deviceId}`}>Go to device {add.data.deviceId}</Link>
            </p>
          </div>
        )}
        {add.error && <Failure error={add.error} />}
        <SubmitBar label="Add the device" busy="Adding…" isPending={add.isPending} onClose={onClose} />
      </form>
    </Dialog>
  );
}
