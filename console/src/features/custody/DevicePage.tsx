import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "wouter";
import { useMe } from "../../api/me";
import type { Schemas } from "../../api/client";
import { Failure } from "../../ui/Failure";
import { WaitingPage } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { ExactTime } from "./ExactTime";
import { Changes } from "./Changes";
import { Dialogs, useDialogs } from "./Dialogs";
import { History } from "./History";
import { useDevice } from "./queries";
import type { Segment } from "./segments";
import "./custody.css";

const MOST = Number.MAX_SAFE_INTEGER;

/** The custody of a device: who has it, who had it and when, and who has recorded that. */
export default function DevicePage({ deviceId }: { deviceId: number }) {
  if (!Number.isSafeInteger(deviceId) || deviceId < 1) return <NoNumber />;
  return <Loaded deviceId={deviceId} />;
}

function Loaded({ deviceId }: { deviceId: number }) {
  const found = useDevice(deviceId);
  useTitle(`Device ${deviceId}`, found.data?.label);
  const changedAt = found.data?.lastChangeAt;
  const queries = useQueryClient();
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ["custody", deviceId, "changes"] });
  }, [queries, deviceId, changedAt]);
  if (found.isPending) return <WaitingPage title={`Device ${deviceId}`} />;
  if (found.data === undefined)
    return (
      <section className="page custody">
        <Crumbs />
        <h1>Device {deviceId}</h1>
        <Failure error={found.error} again={() => void found.refetch()} />
      </section>
    );
  return (
    <Device
      deviceId={deviceId}
      device={found.data}
      now={found.dataUpdatedAt}
      error={found.isError ? found.error : null}
      again={() => void found.refetch()}
    />
  );
}

interface DeviceProps {
  deviceId: number;
  /** Null for a device that was never recorded. */
  device: Schemas["Device"] | null;
  now: number;
  error: Error | null;
  again: () => void;
}

function Device({ deviceId, device, now, error, again }: DeviceProps) {
  const role = useMe().data?.role;
  const canChange = role === "editor" || role === "admin";
  const dialogs = useDialogs(deviceId);
  const hasPeriods = device !== null && device.periods > 0;
  return (
    <section className="page custody">
      <Crumbs />
      <h1>
        Device {deviceId}
        {device?.label != null && (
          <>
            {" "}
            · <Untrusted text={device.label} />
          </>
        )}
      </h1>
      {error && <Failure error={error} again={again} />}
      <p className="answer">
        <Answer device={device} />
      </p>
      {canChange && (
        <div className="bar">
          {device?.isHeld && (
            <button type="button" className="primary" onClick={() => void dialogs.handOn()}>
              Hand on
            </button>
          )}
          <button type="button" className={device?.isHeld ? undefined : "primary"} onClick={() => dialogs.record(null)}>
            {hasPeriods ? "Record a period" : "Record the first period"}
          </button>
          <button type="button" onClick={() => dialogs.open({ kind: "label" })}>
            Label
          </button>
          {dialogs.isFinding && <span role="status">Reading the present period…</span>}
        </div>
      )}
      {dialogs.error !== null && <Failure error={dialogs.error} again={() => void dialogs.handOn()} />}
      {role === "viewer" && (
        <p className="quiet">Your role is viewer: you can read the custody of devices. An editor can record it.</p>
      )}
      {hasPeriods && (
        <History
          device={device}
          now={now}
          actions={{
            onFill: canChange ? (gap) => dialogs.record(gap) : undefined,
            onEdit: canChange ? (segment) => dialogs.open({ kind: "edit", period: periodOf(segment) }) : undefined,
            onRemove:
              role === "admin" ? (segment) => dialogs.open({ kind: "remove", period: periodOf(segment) }) : undefined,
          }}
        />
      )}
      {device && (
        <>
          <h2>Changes</h2>
          <Changes deviceId={deviceId} />
          <p>
            <Link href={`/activity?object=device:${deviceId}`}>Activity of this device</Link>
          </p>
        </>
      )}
      <Dialogs deviceId={deviceId} label={device?.label ?? null} dialogs={dialogs} />
    </section>
  );
}

function periodOf(segment: Segment) {
  if (segment.kind !== "period") throw new Error("A gap has no period.");
  return segment.period;
}

const Crumbs = () => (
  <p className="quiet crumbs">
    <Link href="/custody">Custody</Link>
  </p>
);

/** Who has the device: the question of the page. */
function Answer({ device }: { device: Schemas["Device"] | null }) {
  if (!device) return <>No device has this number yet. Label it or record a period to add it.</>;
  if (device.periods === 0) return <>No period is recorded: it is not known who has held the device.</>;
  if (!device.isHeld) return <>The device has no recorded holder now.</>;
  return (
    <>
      {device.holderId === null ? (
        "It is held, by a holder who is not recorded,"
      ) : (
        <>
          <Untrusted text={device.holder} /> has held it
        </>
      )}{" "}
      since <ExactTime value={device.since!} />.
    </>
  );
}

function NoNumber() {
  useTitle("Device");
  return (
    <section className="page custody">
      <Crumbs />
      <h1>This is not the number of a device</h1>
      <p>
        A device has a whole number from 1 to {MOST.toLocaleString()}. <Link href="/custody">Go to the devices</Link>
      </p>
    </section>
  );
}
