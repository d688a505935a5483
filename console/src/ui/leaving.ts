// What would be lost if this window were left: whatever would have the browser ask before.

/** Whether something would be lost: what would have the browser ask before it leaves the page. */
export function holdsSomething(): boolean {
  return !dispatchEvent(new Event("beforeunload", { cancelable: true }));
}

/** Leave without the browser's question: the page has asked. */
export function letGo(): void {
  addEventListener("beforeunload", (event) => event.stopImmediatePropagation(), { capture: true });
}
