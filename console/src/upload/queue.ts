// Runs the requests of an upload, six at a time, and says how far it is.
//
// Guaranteed: a task that was interrupted, by the network, the session or a pause, is run again, and none is lost or run
// twice at once; a fault that passes is tried again after 1, 3, 10 and 30 seconds and reported after that; without a
// connection or a session nothing is given up. Tasks are idempotent: they may be run again after any fault.
import { Connection, DELAYS_MS } from "./connection";
import type { Environment } from "./environment";
import { toFault, type UploadFault } from "./faults";
import { Meter } from "./meter";
import { describeFailures, type Context, type Failed, type Plan, type Task } from "./tasks";
import type { Transfer, TransferSnapshot, TransferStatus } from "./types";

const AT_ONCE = 6;
const SHOW_MS = 200;

interface Running {
  abort: AbortController;
  sent: number;
}

export class Queue implements Transfer {
  private wish: "waiting" | "moving" | "paused" | "cancelled" = "waiting";
  private readonly ready: Task[];
  private readonly running = new Map<Task, Running>();
  private readonly attempts = new Map<Task, number>();
  /** What stops the wait of a task, or the next notice of progress. */
  private readonly waits = new Map<Task | "show", () => void>();
  private failed: Failed[] = [];
  private readonly connection: Connection;
  private isSignedOut = false;
  private stopWatching = (): void => undefined;
  private readonly done = { files: 0, bytes: 0, there: 0, bySize: 0, retries: 0 };
  private readonly meter: Meter;
  private readonly listeners = new Set<() => void>();
  private snapshot: TransferSnapshot | null = null;

  constructor(
    private readonly plan: Plan,
    private readonly environment: Environment,
  ) {
    this.ready = [...plan.tasks];
    this.meter = new Meter(environment);
    this.connection = new Connection(environment, this.probe);
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  getSnapshot = (): TransferSnapshot => (this.snapshot ??= this.describe());

  start = (): void => {
    if (this.wish !== "waiting") return;
    this.stopWatching = this.environment.onSession(this.noticeSession);
    this.move();
  };

  pause = (): void => {
    if (this.wish !== "moving") return;
    this.wish = "paused";
    this.stopRunning();
    this.show();
  };

  resume = (): void => {
    if (this.wish !== "paused") return;
    this.connection.find();
    this.move();
  };

  cancel = (): void => {
    this.wish = "cancelled";
    this.stopRunning();
    for (const stop of this.waits.values()) stop();
    this.waits.clear();
    this.connection.stop();
    this.stopWatching();
    this.show();
  };

  retry = (): void => {
    if (this.wish === "cancelled" || this.wish === "waiting") return;
    const tasks = this.failed.map(({ task }) => task);
    this.failed = [];
    this.ready.unshift(...tasks);
    this.move();
  };

  private move(): void {
    this.wish = "moving";
    this.meter.restart();
    this.pump();
    this.show();
  }

  private stopRunning(): void {
    for (const { abort } of this.running.values()) abort.abort();
  }

  private pump(): void {
    const most = this.connection.isProbing ? 1 : this.connection.isLost ? 0 : AT_ONCE;
    while (this.wish === "moving" && !this.isSignedOut && this.running.size < most) {
      const task = this.ready.shift();
      if (!task) return;
      void this.run(task);
    }
  }

  private async run(task: Task): Promise<void> {
    const running = { abort: new AbortController(), sent: 0 };
    this.running.set(task, running);
    try {
      await task.run(this.makeContext(running));
      this.finish(task);
    } catch (error) {
      this.running.delete(task);
      if (running.abort.signal.aborted) this.ready.unshift(task);
      else this.handle(task, toFault(error, task.path));
    }
    this.pump();
    this.show();
  }

  private makeContext(running: Running): Context {
    return {
      environment: this.environment,
      signal: running.abort.signal,
      onSent: (bytes) => {
        if (bytes > 0 && this.connection.isProbing) this.noticeConnection();
        running.sent = bytes;
        this.showSoon();
      },
      add: (tasks) => this.ready.unshift(...tasks),
      countThere: (files = 1, isCompared = true) => {
        this.done.there += files;
        if (!isCompared) this.done.bySize += files;
      },
    };
  }

  private finish(task: Task): void {
    this.running.delete(task);
    this.attempts.delete(task);
    this.done.files += task.files;
    this.done.bytes += task.bytes;
    if (this.connection.isLost) this.noticeConnection();
  }

  private handle(task: Task, fault: UploadFault): void {
    if (fault.kind === "network") {
      this.ready.unshift(task);
      this.done.retries += 1;
      this.connection.lose();
    } else if (fault.kind === "signed-out" && !this.environment.isSignedIn()) {
      this.ready.unshift(task);
      this.isSignedOut = true;
    } else {
      this.tryAgain(task, fault);
    }
  }

  private tryAgain(task: Task, fault: UploadFault): void {
    const attempt = this.attempts.get(task) ?? 0;
    if (fault.kind === "final" || attempt >= DELAYS_MS.length) {
      this.attempts.delete(task);
      this.failed.push({ task, fault });
      return;
    }
    this.attempts.set(task, attempt + 1);
    this.done.retries += 1;
    // What is cured by new URLs needs no wait, once.
    if (attempt === 0 && fault.kind !== "busy") this.ready.unshift(task);
    else this.wait(task, DELAYS_MS[attempt]!, () => this.ready.unshift(task));
  }

  /** Requests from before may hang: they are sent again after the one that tries the connection. */
  private probe = (): void => {
    this.stopRunning();
    this.pump();
    this.show();
  };

  private noticeConnection(): void {
    this.connection.find();
    this.meter.restart();
    this.pump();
  }

  private noticeSession = (): void => {
    if (!this.isSignedOut || !this.environment.isSignedIn()) return;
    this.isSignedOut = false;
    this.meter.restart();
    this.pump();
    this.show();
  };

  private showSoon(): void {
    if (!this.waits.has("show")) this.wait("show", SHOW_MS, () => undefined);
  }

  private wait(name: Task | "show", ms: number, call: () => void): void {
    const stop = this.environment.after(ms, () => {
      this.waits.delete(name);
      call();
      this.pump();
      this.show();
    });
    this.waits.set(name, stop);
  }

  private show(): void {
    this.snapshot = null;
    if (this.getStatus() === "done") this.stopWatching();
    for (const listener of [...this.listeners]) listener();
  }

  private getStatus(): TransferStatus {
    if (this.wish === "cancelled" || this.wish === "waiting") return this.wish;
    const isWaiting = this.waits.size > Number(this.waits.has("show"));
    if (!this.ready.length && !this.running.size && !isWaiting) return this.failed.length ? "failed" : "done";
    if (this.wish === "paused") return "paused";
    if (this.isSignedOut) return "signed-out";
    return this.connection.isLost ? "offline" : "moving";
  }

  private describe(): TransferSnapshot {
    const [{ folders, largest }, status] = [this.plan, this.getStatus()];
    const sent = [...this.running].reduce((sum, [task, each]) => sum + Math.min(each.sent, task.bytes), 0);
    const bytes = { done: this.done.bytes + sent, all: this.plan.bytes };
    return {
      status,
      files: { done: this.done.files, all: this.plan.files },
      bytes,
      secondsLeft: status === "moving" ? this.meter.estimate(bytes) : null,
      retries: this.done.retries,
      alreadyThere: this.done.there,
      knownBySize: this.done.bySize,
      failures: describeFailures(this.failed),
      folders,
      largest,
    };
  }
}
