// What the tests in Python use of the viewer: the decoder of TIFF files.
export { decodePage } from "../../src/features/viewer/tiff/decode";
export { Directories } from "../../src/features/viewer/tiff/directories";
export { FileFault } from "../../src/features/viewer/tiff/faults";
export { MemorySource } from "../../src/features/viewer/tiff/source";
