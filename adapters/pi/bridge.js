// What `pi --mode rpc` has no command for, as one pi extension: forkproof's adapter loads it with `-e`.
//
// `/forkproof {"token": T, "do": NAME, ...}` calls pi's own extension interface and answers with a notification that
// bears the token: {"forkproof": T, "done": VALUE} or {"forkproof": T, "failed": TEXT}. A fork replaces the session and
// makes this context stale, so its answer comes through the new session's context. It decides nothing: what pi answers
// goes back as it is. The hooks named in FORKPROOF_HOOKS (a JSON array) are asked before pi forks, through an input
// dialog whose answer is {"cancels": BOOLEAN}.

const hooks = JSON.parse(process.env.FORKPROOF_HOOKS ?? "[]");

export default function forkproof(pi) {
  const actions = {
    // Where the session stands, and what pi holds of it in memory: a session that was never written has no file.
    stand: async (_asked, ctx) => ({
      header: ctx.sessionManager.getHeader(),
      entries: ctx.sessionManager.getEntries(),
      leafId: ctx.sessionManager.getLeafId(),
    }),
    // `keep`: an entry of no meaning to the model, so that the place is the file's last one and survives a restart.
    navigate: async ({ entry, summarize, keep }, ctx) => {
      const told = await ctx.navigateTree(entry, { summarize });
      if (keep && !told.cancelled) pi.appendEntry("forkproof-cut", {});
      return told;
    },
    fork: async ({ entry }, ctx, answer) =>
      ctx.fork(entry, { position: "at", withSession: async (fresh) => answer(fresh, { done: { cancelled: false } }) }),
    label: async ({ entry, text }) => {
      pi.setLabel(entry, text ?? undefined);
      return {};
    },
    // The entry that a boundary handler's draft becomes; then pi reads the session again, as it does after a draft.
    edit: async ({ entry, text }, ctx, answer) => {
      const made = ctx.sessionManager.appendContextEdit(entry, { content: text });
      const withSession = async (fresh) => answer(fresh, { done: { made } });
      return ctx.switchSession(ctx.sessionManager.getSessionFile(), { withSession });
    },
    // models.json has been written anew.
    models: async (_asked, ctx) => {
      await ctx.modelRegistry.refresh();
      return {};
    },
    sessions: async () => {
      const { SessionManager } = await library();
      const listed = await SessionManager.listAll();
      return listed.map(({ path, id, cwd, name, parentSessionPath, firstMessage }) => ({
        path,
        id,
        cwd,
        name,
        parentSessionPath,
        firstMessage,
      }));
    },
  };

  const reply = (token) => (ctx, told) => ctx.ui.notify(JSON.stringify({ forkproof: token, ...told }), "info");

  pi.registerCommand("forkproof", {
    description: "What forkproof needs beyond RPC",
    handler: async (text, ctx) => {
      const asked = JSON.parse(text);
      const answer = reply(asked.token);
      let told;
      try {
        told = { done: await actions[asked.do](asked, ctx, answer) };
      } catch (error) {
        told = { failed: error instanceof Error ? error.message : String(error) };
      }
      try {
        answer(ctx, told);
      } catch {
        // The session was replaced under this context; its successor has answered.
      }
    },
  });

  if (hooks.length > 0) {
    pi.on("session_before_fork", async (_event, ctx) => {
      const session = ctx.sessionManager.getSessionId();
      let cancel = false;
      for (const hook of hooks) {
        const said = await ctx.ui.input("forkproof", JSON.stringify({ hook, session }));
        cancel = JSON.parse(said ?? "{}").cancels === true || cancel;
      }
      return { cancel };
    });
  }
}

async function library() {
  try {
    return await import("@earendil-works/pi-coding-agent");
  } catch {
    return await import("@mariozechner/pi-coding-agent"); // its name up to 0.73
  }
}
