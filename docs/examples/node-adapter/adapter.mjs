// An adapter for forkproof in Node, without dependencies: the adapter protocol, version 1, on standard input and output.
//
//     forkproof adapter check docs/examples/node-adapter/adapter.mjs
//     forkproof run docs/examples/node-adapter/adapter.mjs
//
// It translates: what forkproof asks into what the harness does, and what the harness says into forkproof's words. It
// never judges, and it never makes up what the harness did not say. The contract is docs/adapters.md.

import { createInterface } from "node:readline";
import { Harness, Refusal } from "./harness.mjs";

const VERSION = 1;
const DESCRIPTION = {
  harness: "node-example",
  version: "1.0.0",
  wire: "chat", // how the harness speaks to its model; forkproof plays the model at the endpoint that `start` names
  capabilities: [
    "cancel", "compact", "fork.after", "fork.before", "fork.head", "tool.count", "tool.edit", "tool.read", "tool.run",
    "tool.together", "tool.wait", "tool.write", "workspace.copy", "workspace.isolated",
  ],
  policies: {
    busy_source: "last-committed", // a fork of a session whose turn runs takes what was complete before
    cache_key: "none",
    retained_turns: "0", // a compaction covers every turn
    snapshot_holds: "all",
    settings_source: "latest",
    grants: "fresh",
  },
  route: "docs/examples/node-adapter",
  shell: { tool: "shell", argument: "command" }, // forkproof writes the commands that its abstract tools become
};

let harness = null;

function running() {
  if (harness === null) throw new RpcError(-32000, "not started", { code: "start-failed", hint: "send `start` first" });
  return harness;
}

// --- One function a method: params in, result out -------------------------------------------------------------------

const METHODS = {
  initialize({ protocolVersion }) {
    if (protocolVersion !== VERSION) throw new RpcError(-32000, `this adapter speaks version ${VERSION} only`);
    return { protocolVersion: VERSION, name: "node-example" };
  },
  describe: () => DESCRIPTION,
  start({ endpoint }) {
    harness = new Harness(endpoint);
    return {};
  },
  async stop() {
    await harness?.stop();
    harness = null;
    return {};
  },
  "session/open": ({ cwd }) => ({ sessionId: running().open(cwd).id }),
  async "session/prompt"({ sessionId, text }) {
    const { turn, stop, detail } = await running().prompt(sessionId, text);
    return { stopReason: stop, native: turn, detail };
  },
  async "session/cancel"({ sessionId }) {
    await running().cancel(sessionId);
    return {};
  },
  async "session/compact"({ sessionId }) {
    const { id, covers } = await running().compact(sessionId);
    return {
      native: id,
      covers: { sessionId: covers.session, first: markerIn(covers.first), last: markerIn(covers.last) },
    };
  },
  "session/fork"({ sessionId, cut, workspace, cwd }) {
    const made = running().fork(sessionId, nativeCut(sessionId, cut), workspace === "isolated" ? cwd : null);
    // Each of these the harness states itself; what an adapter works out is `derived`, and what nobody knows is left out.
    return { record: reported({
      sessionId: made.child.id,
      source: made.source,
      cut: made.cut,
      revision: made.revision,
      settings: { model: { value: made.model, origin: "latest" } },
      checkpoint: made.checkpoint,
      cwd: made.child.directory,
      workspace,
      edge: "fork",
      snapshot: workspace === "isolated" ? "all files" : null,
      grants: [],
      memories: [],
    }) };
  },
};

/** The harness's own cut: its turn's id, as it gave it when the turn ended, or found by the turn's marker. */
function nativeCut(sessionId, { kind, turn }) {
  if (kind === "head") return { head: true };
  if (kind !== "before" && kind !== "after") throw new Unsupported(`a cut ${kind} an item`);
  const known = turn.exists === false ? undefined : (turn.native ?? running().turnHolding(sessionId, turn.marker));
  return { [kind]: known ?? `turn-unknown-${turn.name}` };
}

/** An entry in forkproof's terms: the last marker that stands in it, which it planted there, or the harness's id. */
function markerIn({ id, text = "", output = "", calls = [] }) {
  const call = /^call_fp([0-9a-f]{6})_([a-z][a-z0-9-]*)$/.exec(calls.at(-1)?.id ?? "");
  if (call) return `[fp${call[1]}.${call[2]}.call]`;
  return `${text}${output}`.match(/\[fp[0-9a-f]{6}(?:\.[a-z0-9-]+)+\]/g)?.at(-1) ?? id;
}

function reported(record) {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, { value, origin: "reported" }]));
}

// --- JSON-RPC 2.0, one object a line --------------------------------------------------------------------------------

class RpcError extends Error {
  constructor(code, message, data = undefined) {
    super(message);
    Object.assign(this, { code, data });
  }
}

class Unsupported extends Error {}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

async function answer({ id, method, params }) {
  try {
    if (!Object.hasOwn(METHODS, method)) throw new RpcError(-32601, `Method not found: ${method}`);
    if (params === null || typeof params !== "object") throw new RpcError(-32602, `${method}: params must be an object`);
    send({ id, result: await METHODS[method](params) });
  } catch (error) {
    if (error instanceof Refusal) send({ id, result: { outcome: "refused", reason: error.reason, message: error.message } });
    else if (error instanceof Unsupported) send({ id, result: { outcome: "unsupported", what: error.message } });
    else send({ id, error: { code: error.code ?? -32603, message: error.message, data: error.data } });
  }
}

function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch (error) {
    return send({ id: null, error: { code: -32700, message: `not JSON: ${error.message}` } });
  }
  if (message === null || typeof message !== "object" || Array.isArray(message)) {
    return send({ id: null, error: { code: -32600, message: "not a request" } });
  }
  // Without a method it is an answer, and this adapter asks nothing; without an id it is a notification.
  if (typeof message.method === "string" && message.id !== undefined) answer({ params: {}, ...message });
}

const lines = createInterface({ input: process.stdin, crlfDelay: Infinity });
lines.on("line", take);
lines.on("close", async () => {
  await harness?.stop();
  process.exit(0);
});
