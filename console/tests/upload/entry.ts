// What the tests in a browser use of the console: uploads, and the session and the API that they need.
export { api, data } from "../../src/api/client";
export { startSession } from "../../src/auth/session";
export * from "../../src/upload";
