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
  const [known, setKnown] = useState<Schemas["Device"] | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isLooking, setLooking] = useState(false);
  const save = useLabel();
  const add = async () => {
    const deviceId = Number(number);
    setError(null);
    setLooking(true);
    try {
      const found = await findDevice(deviceId);
      setKnown(found);
      if (found) return;
      await save.mutateAsync({ deviceId, label: label.trim() || null });
      announce("The device was added.");
      navigate(`/custody/${deviceId}`);
    } catch (fault) {
      setError(fault);
    } finally {
      setLooking(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void add();
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
        {known && (
          <div className="notice bad" role="alert">
            <strong>Not added: there is a device {known.deviceId}</strong>
            <p>
              It is called <Untrusted text={known.label} />.{" "}
              <Link href={`/custody/${known.deviceId}`}>Go to device {known.deviceId}</Link>
            </p>
          </div>
        )}
        {error !== null && <Failure error={error} />}
        <SubmitBar label="Add the device" busy="Adding…" isPending={isLooking} onClose={onClose} />
      </form>
    </Dialog>
  );
}
