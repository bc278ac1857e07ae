// A small agent harness: conversations in memory, one shell tool, a model behind the Chat Completions API.
//
// It knows nothing of forkproof; `adapter.mjs` drives it as it would drive yours. What makes its forks right:
//   - a session is a list of entries that never change, so a fork is a copy of the list's beginning;
//   - what was asked for is recorded before it runs, and what came of it after, so a cut never lies about either;
//   - the prompt is worked out from the entries, each time: pairs are mended there and nowhere else.

import { spawn } from "node:child_process";
import { cpSync, existsSync } from "node:fs";

/** A definite no. `reason` is one of busy, unknown-cut, unknown-session, other. */
export class Refusal extends Error {
  constructor(reason, message) {
    super(message);
    this.reason = reason;
  }
}

const TOOL = {
  type: "function",
  function: {
    name: "shell",
    description: "Run a command in the working directory.",
    parameters: { type: "object", properties: { command: { type: "string" } }, required: ["command"] },
  },
};
const UNKNOWN_RESULT = "[interrupted] No result was recorded for this call. Whether it ran is unknown.";
const INTERRUPTED = "<turn_interrupted>The turn above was interrupted before it was complete.</turn_interrupted>";
const SUMMARIZE = "Summarize the conversation so far for whoever continues it.";

export class Harness {
  #sessions = new Map();
  #counts = { session: 0, turn: 0, entry: 0 };
  #endpoint;
  #model;

  /** `endpoint` is {url, key} of the model's API. */
  constructor(endpoint, model = "fake-model") {
    this.#endpoint = endpoint;
    this.#model = model;
  }

  // --- Sessions -----------------------------------------------------------------------------------------------------

  open(directory) {
    return this.#keep({ directory, entries: [], source: null });
  }

  session(id) {
    const found = this.#sessions.get(id);
    if (!found) throw new Refusal("unknown-session", `there is no session ${id}`);
    return found;
  }

  #keep(session) {
    const made = { id: `session-${++this.#counts.session}`, running: null, ...session };
    this.#sessions.set(made.id, made);
    return made;
  }

  #append(session, entry) {
    const made = Object.freeze({ id: `entry-${++this.#counts.entry}`, ...entry });
    session.entries.push(made);
    return made;
  }

  // --- Turns --------------------------------------------------------------------------------------------------------

  /** Run a turn to its end. Gives {turn, stop, detail}. */
  async prompt(id, text) {
    const session = this.#idle(id);
    const turn = `turn-${++this.#counts.turn}`;
    const start = session.entries.length;
    this.#append(session, { kind: "user", turn, text });
    return this.#work(session, { start, turn }, async (signal) => {
      const [stop, detail] = await this.#steps(session, turn, signal);
      this.#append(session, { kind: "end", turn, stop });
      return { turn, stop, detail };
    });
  }

  async #steps(session, turn, signal) {
    try {
      for (;;) {
        const reply = await this.#ask(session.entries, session, [TOOL], signal);
        const calls = reply.tool_calls ?? [];
        this.#append(session, { kind: "answer", turn, text: reply.content ?? "", calls });
        if (!calls.length) return ["end_turn", ""];
        await Promise.all(
          calls.map(async (call) => {
            const output = await run(JSON.parse(call.function.arguments).command, session.directory, signal);
            this.#append(session, { kind: "result", turn, call: call.id, output });
          }),
        );
      }
    } catch (error) {
      return signal.aborted ? ["cancelled", ""] : ["failed", error.message];
    }
  }

  /** Interrupt what runs in a session; returns when it has ended. */
  async cancel(id) {
    const { running } = this.session(id);
    running?.abort.abort();
    await running?.done;
  }

  /** Replace what the model is shown by a summary of it. Gives the summary's entry. */
  async compact(id) {
    const session = this.#idle(id);
    const covered = shown(session.entries);
    if (!covered.length) throw new Refusal("other", "there is nothing to compact");
    return this.#work(session, { start: session.entries.length }, async (signal) => {
      let reply;
      try {
        reply = await this.#ask([...session.entries, { kind: "user", text: SUMMARIZE }], session, [], signal);
      } catch (error) {
        throw new Refusal("other", signal.aborted ? "the compaction was cancelled" : error.message);
      }
      const covers = { session: id, first: session.entries[0], last: covered.at(-1) };
      return this.#append(session, { kind: "summary", text: reply.content ?? "", covers });
    });
  }

  #idle(id) {
    const session = this.session(id);
    if (session.running) throw new Refusal("busy", `something runs in session ${id}`);
    return session;
  }

  async #work(session, what, steps) {
    const abort = new AbortController();
    const work = steps(abort.signal);
    session.running = { ...what, abort, done: work.catch(() => {}) };
    try {
      return await work;
    } finally {
      session.running = null;
    }
  }

  // --- Forks --------------------------------------------------------------------------------------------------------

  /**
   * A new session from the beginning of another one. `cut` is {before: TURN}, {after: TURN} or {head: true}.
   * With `copyTo` the workspace is copied there, else the two share it. Gives what was decided.
   */
  fork(id, cut, copyTo = null) {
    const source = this.session(id);
    // Everything that can go wrong goes wrong before anything is made.
    const [end, applied] = this.#end(source, cut);
    const entries = source.entries.slice(0, end);
    if (copyTo !== null) copy(source.directory, copyTo);
    const child = this.#keep({ directory: copyTo ?? source.directory, entries, source: id });
    return {
      child,
      source: id,
      cut: applied,
      revision: `${id}@${source.entries.length}`,
      checkpoint: entries.findLast((entry) => entry.kind === "summary")?.id ?? "none",
      model: this.#model,
    };
  }

  /** How many entries a cut keeps, and the cut that this is: a head that moves is told as where it moved to. */
  #end(source, cut) {
    // What runs is not history yet: a fork of a busy session sees what was complete before.
    const { start: committed = source.entries.length, turn: runs } = source.running ?? {};
    if (cut.head) {
      const last = source.entries[committed - 1]?.turn;
      return [committed, runs ? (last ? { after: last } : { before: runs }) : cut];
    }
    const turn = cut.before ?? cut.after;
    const own = source.entries.map((entry, at) => (entry.turn === turn ? at : -1)).filter((at) => at >= 0);
    const at = cut.before ? own[0] : own.at(-1) + 1;
    if (!own.length || at > committed) throw new Refusal("unknown-cut", `session ${source.id} has no such turn: ${turn}`);
    return [at, cut];
  }

  /** The id of the turn whose user message holds this text; undefined if there is none. */
  turnHolding(id, text) {
    return this.session(id).entries.find((entry) => entry.kind === "user" && entry.text.includes(text))?.turn;
  }

  async stop() {
    await Promise.all([...this.#sessions.keys()].map((id) => this.cancel(id)));
  }

  // --- The model ----------------------------------------------------------------------------------------------------

  async #ask(entries, session, tools, signal) {
    const place = `You are an agent with a shell. The working directory is ${session.directory}`;
    const body = { model: this.#model, messages: [{ role: "system", content: place }, ...messages(entries)] };
    if (tools.length) body.tools = tools;
    const answer = await fetch(`${this.#endpoint.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${this.#endpoint.key}` },
      body: JSON.stringify(body),
      signal,
    });
    if (!answer.ok) throw new Error(`the model answered ${answer.status}: ${await answer.text()}`);
    return (await answer.json()).choices[0].message;
  }
}

/** The entries that the model is shown: from the newest summary on. */
function shown(entries) {
  return entries.slice(Math.max(0, entries.findLastIndex((entry) => entry.kind === "summary")));
}

/** The prompt of these entries: each call has exactly one result, in the order of the calls. */
function messages(entries) {
  const path = shown(entries);
  return path.flatMap((entry, at) => {
    switch (entry.kind) {
      case "user":
        return [{ role: "user", content: entry.text }];
      case "summary":
        return [{ role: "user", content: `Summary of session ${entry.covers.session} so far:\n${entry.text}` }];
      case "answer": {
        const said = { role: "assistant", content: entry.text };
        if (entry.calls.length) said.tool_calls = entry.calls;
        // The results behind this answer and before the next one: a later turn may use a call's id again.
        const next = path.findIndex((other, where) => where > at && ["answer", "user"].includes(other.kind));
        const behind = path.slice(at + 1, next < 0 ? undefined : next);
        const results = entry.calls.map((call) => ({
          role: "tool",
          tool_call_id: call.id,
          content: behind.find((other) => other.kind === "result" && other.call === call.id)?.output ?? UNKNOWN_RESULT,
        }));
        return [said, ...results];
      }
      case "end":
        return entry.stop === "cancelled" ? [{ role: "user", content: INTERRUPTED }] : [];
      default:
        return [];
    }
  });
}

function copy(source, target) {
  if (existsSync(target)) throw new Refusal("other", `${target} is there already`);
  try {
    cpSync(source, target, { recursive: true, verbatimSymlinks: true });
  } catch (error) {
    throw new Refusal("other", `the workspace could not be copied: ${error.message}`);
  }
}

/** Run a shell command to its end; rejects when it is interrupted, and then nothing of it runs any more. */
function run(command, cwd, signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Error("interrupted"));
    // In a process group of its own, so that what the command starts ends with it.
    const child = spawn("/bin/sh", ["-c", command], { cwd, detached: true, stdio: ["ignore", "pipe", "pipe"] });
    const output = [];
    child.stdout.on("data", (data) => output.push(data));
    child.stderr.on("data", (data) => output.push(data));
    const kill = () => {
      try {
        process.kill(-child.pid, "SIGKILL");
      } catch {
        // It has ended already.
      }
    };
    signal.addEventListener("abort", kill, { once: true });
    child.on("error", reject);
    child.on("close", () => {
      signal.removeEventListener("abort", kill);
      if (signal.aborted) reject(new Error("interrupted"));
      else resolve(Buffer.concat(output).toString());
    });
  });
}
