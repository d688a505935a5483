import { expect, test } from "vitest";
import { listActs } from "../src/features/settings/acts";
import { formatCertificate } from "../src/features/settings/certificate";
import { nameState } from "../src/ui/CaseState";

const hold = { reason: "Order", heldBy: "ada", heldAt: "2026-11-27T09:00:00Z" };
const purge = { after: "2027-01-31", requestedBy: "ada", requestedAt: "2026-11-27T09:00:00Z" };

test("what the state of a case allows is offered, and nothing that it refuses", () => {
  expect(listActs({ status: "open", hold: null, purge: null })).toEqual(["close", "rename", "hold", "purge"]);
  expect(listActs({ status: "closed", hold: null, purge: null })).toEqual(["reopen", "rename", "hold", "purge"]);
  expect(listActs({ status: "closed", hold, purge: null })).toEqual(["reopen", "rename", "lift"]);
  expect(listActs({ status: "closed", hold: null, purge })).toEqual(["withdraw", "hold", "rename"]);
  expect(listActs({ status: "purging", hold: null, purge })).toEqual([]);
  expect(listActs({ status: "purged", hold: null, purge: null })).toEqual([]);
});

test("an open case has no state to name", () => {
  expect(nameState({ status: "open", hold: null, purge: null })).toBeNull();
  expect(nameState({ status: "open", hold, purge: null })).toBe("on hold");
  expect(nameState({ status: "closed", hold: null, purge })).toBe("closed, to be purged from 2027-01-31 on");
});

test("the certificate is the file that the command writes", async () => {
  const found = { caseId: 7, rows: [], locked: null, sha256: "é" } as never;
  const written = await formatCertificate(found).text();
  expect(written).toBe('{\n  "caseId": 7,\n  "rows": [],\n  "locked": null,\n  "sha256": "é"\n}\n');
});
