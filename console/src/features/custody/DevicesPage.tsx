import { useDeferredValue, useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { useCanImport, useMe } from "../../api/me";
import { Failure } from "../../ui/Failure";
import { More } from "../../ui/More";
import { Skeleton } from "../../ui/Skeleton";
import { useTitle } from "../../ui/title";
import { Untrusted } from "../../ui/Untrusted";
import { Count } from "../../ui/values";
import { ExactTime } from "./ExactTime";
import { AddDevice } from "./AddDevice";
import { useDevices } from "./queries";
import "./custody.css";

/** The devices of the tenant, and who holds each now. */
export default function DevicesPage() {
  useTitle("Custody");
  const me = useMe();
  // Devices belong to no case: the API refuses those who are limited to cases.
  if (me.data && me.data.cases !== null) return <ForWholeTenant />;
  return <Devices />;
}

function Devices() {
  const [search, setSearch] = useState("");
  const words = useDeferredValue(search.trim());
  const devices = useDevices(words);
  const canChange = useCanImport();
  const [isAdding, setAdding] = useState(false);
  const shown = devices.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <section className="page custody">
      <div className="bar">
        <h1>Custody</h1>
        <input
          type="search"
          aria-label="Find a device"
          placeholder="Find a device by label or number"
          value={search}
          maxLength={255}
          onChange={(event) => setSearch(event.target.value)}
        />
        {canChange && (
          <button type="button" className="primary end" onClick={() => setAdding(true)}>
            Add a device
          </button>
        )}
      </div>
      {devices.isPending && <Skeleton rows={6} />}
      {devices.isError && <Failure error={devices.error} again={() => void devices.refetch()} />}
      {devices.isSuccess && shown.length === 0 && <NoDevices search={words} canChange={canChange} />}
      {shown.length > 0 && <DevicesTable devices={shown} />}
      <More pages={devices} what="devices" />
      {canChange === false && (
        <p className="quiet">Your role is viewer: you can read the custody of devices. An editor can record it.</p>
      )}
      {isAdding && <AddDevice onClose={() => setAdding(false)} />}
    </section>
  );
}

function NoDevices({ search, canChange }: { search: string; canChange: boolean | undefined }) {
  if (search)
    return (
      <p className="quiet">
        No device has “<Untrusted text={search} />” in its label or at the beginning of its number.
      </p>
    );
  return (
    <div className="empty">
      <h2>There are no devices yet</h2>
      <p>
        {canChange ? "Add a device by your own number" : "An editor adds a device by its number"}, and record who holds
        it from when to when: a court can question any gap.
      </p>
    </div>
  );
}

function DevicesTable({ devices }: { devices: Schemas["Device"][] }) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label="List of devices">
      <table className="list">
        <thead>
          <tr>
            <th scope="col" className="num">
              Device
            </th>
            <th scope="col">Label</th>
            <th scope="col">Holder now</th>
            <th scope="col">Since</th>
            <th scope="col" className="num">
              Periods
            </th>
            <th scope="col">Last change</th>
          </tr>
        </thead>
        <tbody>
          {devices.map((each) => (
            <tr key={each.deviceId}>
              <th scope="row" className="num">
                <Link href={`/custody/${each.deviceId}`}>{each.deviceId}</Link>
              </th>
              <td className="name">
                <Untrusted text={each.label} />
              </td>
              <td className="name">
                <HolderNow device={each} />
              </td>
              <td className="whole">
                {each.since ? <ExactTime value={each.since} /> : <span className="quiet">–</span>}
              </td>
              <td className="num">
                <Link href={`/custody/${each.deviceId}`}>
                  <Count value={each.periods} />
                </Link>
              </td>
              <td className="whole">
                {each.lastChangeAt ? <ExactTime value={each.lastChangeAt} /> : <span className="quiet">–</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function HolderNow({ device }: { device: Schemas["Device"] }) {
  if (!device.isHeld) return <span className="no-holder">no recorded holder</span>;
  return device.holderId === null ? <span className="quiet">not recorded</span> : <Untrusted text={device.holder} />;
}

function ForWholeTenant() {
  return (
    <section className="page custody">
      <h1>Custody</h1>
      <p>
        Your account is limited to cases, and a device belongs to none: its custody is for accounts without this limit.
        Ask your administrator. <Link href="/">Go to the cases</Link>
      </p>
    </section>
  );
}
