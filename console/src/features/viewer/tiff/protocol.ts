// What the page and the worker that decodes say to each other. Each request has a number, which its answers repeat.
import type { FaultCode } from "./faults";

export type ToWorker =
  | {
      kind: "page";
      id: number;
      /** What the file is, whatever its URL: two requests with the same have the same bytes. */
      file: string;
      url: string;
      /** The page within the file, from 1. */
      page: number;
    }
  | { kind: "cancel"; id: number };

export type FromWorker =
  | { kind: "progress"; id: number; bytes: number }
  | { kind: "fault"; id: number; code: FaultCode; detail: string }
  | ({ kind: "page"; id: number } & DecodedPage<ImageBitmap>);

export interface DecodedPage<Image> {
  image: Image;
  width: number;
  height: number;
  /** How far the page is to be turned clockwise, in degrees. */
  turn: number;
  /** How much higher a pixel is than wide. */
  pixelHeight: number;
  /** How many pages the file has; null as long as only `known` of them have been found. */
  pages: number | null;
  known: number;
  /** How many bytes of the file have been fetched for its pages until now, and how many there are. */
  fetched: number;
  size: number;
}
