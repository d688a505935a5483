// Everything that moves bytes from a browser to the bucket. Pages import from here alone.
export { crc32 } from "./crc";
export { UploadFault } from "./faults";
export { handOver, takeHandedOver } from "./hand_over";
export { packFiles } from "./pack";
export { collectDrop, collectInput } from "./pick";
export { fileSource } from "./sources";
export { archiveTarget, folderTarget, importTarget } from "./targets";
export { findFile, summarize } from "./things";
export { forgetTransfer, getTransfer, keepTransfer, sendBeginning, uploadFolder, uploadSource } from "./transfers";
export { StoredZip } from "./stored_zip";
export type { Environment } from "./environment";
export type * from "./types";

/** A volume of more files is packed into one zip while it is sent: each file would be two requests otherwise. */
export const MAX_SINGLE_FILES = 2000;
