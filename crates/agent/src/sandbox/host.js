// Defines the `host` object of tools. Runs once in a realm, before any of their code, so that their later changes
// to built-ins have no effect here. `ask` sends a request to the parent and returns or throws its answer.
export default function (ask, enter, print, most) {
  const { freeze } = Object;
  const { parse } = JSON;
  const text = String;

  const console = {};
  for (const level of ["log", "info", "warn", "error", "debug"]) {
    console[level] = (...values) => print(level, ...values);
  }
  globalThis.console = console;

  const call = (ability, name) => freeze(async (...values) => ask(ability, name, values));

  const respond = ({ status, url, headers, body }) =>
    freeze({
      status,
      ok: status >= 200 && status < 300,
      url,
      headers: freeze(headers),
      text: freeze(async () => body),
      json: freeze(async () => parse(body)),
    });

  const fs = freeze({
    readText: call("fs", "readText"),
    writeText: call("fs", "writeText"),
    list: call("fs", "list"),
    stat: call("fs", "stat"),
    glob: call("fs", "glob"),
  });
  const fetch = freeze(async (url, options) =>
    respond(ask("network", "fetch", [text(url), options ?? {}])),
  );
  const exec = freeze(async (program, values, options) =>
    ask("sh", "exec", [program, values ?? [], options ?? {}]),
  );
  const mcp = freeze({
    call: freeze(async (server, tool, values) => ask("mcp", "call", [server, tool, values ?? {}])),
  });
  const env = freeze((name) => ask("env", "get", [name]));

  // A page, or one of its frames: the parent knows both by number and name only.
  const part = (page, frame, names) => {
    const made = {};
    for (let index = 0; index < names.length; index += 1) {
      const name = names[index];
      made[name] = freeze(async (...values) => ask("browser", name, [page, frame, ...values]));
    }
    made.frame = freeze(async (...values) => frameOf(page, ask("browser", "frame", [page, frame, ...values])));
    return made;
  };
  const READING = ["text", "links", "table", "tree", "fill", "click", "wait"];
  const WHOLE = [...READING, "press", "screenshot", "pdf", "cookies", "download", "close"];
  const frameOf = (page, { frame, url, name }) =>
    freeze({ ...part(page, frame, READING), id: frame, url, name });
  const pageOf = ({ page, status, loaded }) => {
    const state = () => ask("browser", "state", [page, null]);
    const goto = async (url, options) => pageOf(ask("browser", "goto", [page, null, text(url), options ?? {}]));
    return freeze({
      ...part(page, null, WHOLE),
      id: page,
      status,
      loaded,
      url: freeze(async () => state().url),
      title: freeze(async () => state().title),
      goto: freeze(goto),
      frames: freeze(async () => ask("browser", "frames", [page, null]).map((one) => frameOf(page, one))),
    });
  };
  const browser = freeze({
    open: freeze(async (url, options) => pageOf(ask("browser", "open", [text(url), options ?? {}]))),
    pages: freeze(async (options) => ask("browser", "pages", [options ?? {}]).map(pageOf)),
  });

  const hosts = { __proto__: null };
  return (depth) =>
    (hosts[depth] ??= freeze({
      fs,
      fetch,
      exec,
      mcp,
      env,
      browser,
      tool: freeze(async (name, values) => {
        if (depth >= most) {
          throw new RangeError(`tools call each other more than ${most} deep`);
        }
        return enter(ask("tool", "call", [name, values ?? {}]), values ?? {}, depth + 1);
      }),
    }));
}
