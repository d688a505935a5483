/** Have the browser save a file that the page has made. */
export function saveBlob(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  // The browser has taken the file over by then, also where the user is asked for its place.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
