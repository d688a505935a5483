import type { Page } from "./decode";
import { fetchBytes } from "./fetchBytes";
import type { ToWorker } from "./protocol";
import { Session } from "./session";

const scope = globalThis as unknown as {
  postMessage: (message: unknown, transfer: Transferable[]) => void;
  addEventListener: (type: "message", listener: (event: MessageEvent<ToWorker>) => void) => void;
};

const toImage = ({ pixels, width, height }: Page) => createImageBitmap(new ImageData(pixels, width, height));

const session = new Session<ImageBitmap>(fetchBytes, toImage, (message) =>
  scope.postMessage(message, message.kind === "page" ? [message.image] : []),
);
scope.addEventListener("message", (event) => void session.handle(event.data));
