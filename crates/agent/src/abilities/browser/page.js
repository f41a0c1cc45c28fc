// Reads and prepares a page. Runs in a world of its own: it sees the page's elements, and the page's scripts cannot
// change what it sees. Answers `{ why }` when something is not possible, and `{ wait: true }` when it may become so.
function (operation, args) {
  const visible = (element) => {
    const style = getComputedStyle(element);
    if (style.visibility !== "visible" || style.display === "none") return false;
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0;
  };
  const roots = function* (root) {
    yield root;
    for (const element of root.querySelectorAll("*")) {
      if (element.shadowRoot) yield* roots(element.shadowRoot);
    }
  };
  const words = (element) =>
    (element.innerText ?? element.textContent ?? "").replace(/\s+/g, " ").trim();
  const label = (element) =>
    element.matches("input[type=submit],input[type=button],input[type=reset]")
      ? element.value
      : words(element) || element.getAttribute("aria-label") || element.getAttribute("title") || "";
  const byText = (text) => {
    const wanted = text.replace(/\s+/g, " ").trim();
    const CONTROLS = "a,button,input,select,textarea,summary,label,[role],[onclick]";
    for (const list of [CONTROLS, "*"]) {
      let found = null;
      for (const root of roots(document)) {
        for (const element of root.querySelectorAll(list)) {
          if (label(element) === wanted && visible(element)) found = element;
        }
        // The last of nested ones is the innermost.
        if (found) return found;
      }
    }
    return null;
  };
  const find = (selector) => {
    if (selector.startsWith("text=")) return byText(selector.slice(5));
    // Pages hide one of two equal menus: what a user sees is meant.
    let first = null;
    for (const root of roots(document)) {
      for (const found of root.querySelectorAll(selector)) {
        if (visible(found)) return found;
        first ??= found;
      }
    }
    return first;
  };
  const named = (element) => {
    const id = element.id ? `#${element.id}` : "";
    return `<${element.localName}${id}>`;
  };
  const cut = (text) =>
    text.length <= args.most
      ? text
      : `${text.slice(0, args.most)}\n[cut: the text has more than ${args.most} characters]`;
  // Finds an element that a user could use now.
  const usable = () => {
    const element = find(args.selector);
    if (!element) return { wait: true, why: `not found on the page: \`${args.selector}\`` };
    if (element.disabled || element.matches(":disabled")) {
      return { wait: true, why: `\`${args.selector}\` is disabled` };
    }
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    if (!visible(element)) return { wait: true, why: `\`${args.selector}\` is not visible` };
    return { element };
  };
  const operations = {
    state: () => ({
      url: location.href,
      title: document.title,
      status: performance.getEntriesByType("navigation")[0]?.responseStatus || null,
    }),
    text: () => {
      if (args.selector === null) {
        const body = document.body ?? document.documentElement;
        return { text: cut(body?.innerText ?? body?.textContent ?? "") };
      }
      const element = find(args.selector);
      if (!element) return { wait: true, why: `not found on the page: \`${args.selector}\`` };
      const isField = element.matches("input,textarea,select");
      if (isField && element.type === "password") {
        return { why: `\`${args.selector}\` is a password, which tools cannot read` };
      }
      return { text: cut(isField ? element.value : (element.innerText ?? element.textContent ?? "")) };
    },
    point: () => {
      const found = usable();
      if (!found.element) return found;
      const { element } = found;
      const box = element.getClientRects()[0] ?? element.getBoundingClientRect();
      const x = box.left + box.width / 2;
      const y = box.top + box.height / 2;
      const hit = element.getRootNode().elementFromPoint(x, y);
      if (!hit) return { wait: true, why: `\`${args.selector}\` is outside the window` };
      const label = hit.closest?.("label");
      if (!element.contains(hit) && !hit.contains(element) && label?.control !== element) {
        return { wait: true, why: `\`${args.selector}\` is covered by ${named(hit)}` };
      }
      return { x, y };
    },
    fill: () => {
      const found = usable();
      if (!found.element) return found;
      const { element } = found;
      const changed = () => {
        element.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
        element.dispatchEvent(new Event("change", { bubbles: true }));
        return { done: true };
      };
      if (element.localName === "select") {
        const wanted = args.text.trim();
        const options = [...element.options];
        const option =
          options.find((one) => one.value === args.text) ??
          options.find((one) => one.label.trim() === wanted);
        if (!option) return { why: `\`${args.selector}\` has no such option` };
        option.selected = true;
        return changed();
      }
      if (element.readOnly) return { wait: true, why: `\`${args.selector}\` is read-only` };
      if (element.localName === "input") {
        const kind = element.type;
        if (kind === "file") return { why: `\`${args.selector}\` is for a file, and tools cannot send files` };
        if (["checkbox", "radio", "submit", "button", "image", "reset"].includes(kind)) {
          return { why: `\`${args.selector}\` is a ${kind}: click it` };
        }
        if (["color", "date", "datetime-local", "month", "range", "time", "week"].includes(kind)) {
          element.focus();
          element.value = args.text;
          if (element.value !== args.text) {
            return { why: `\`${args.selector}\` does not accept this value` };
          }
          return changed();
        }
      } else if (element.localName !== "textarea" && !element.isContentEditable) {
        return { why: `\`${args.selector}\` is ${named(element)}, which does not accept text` };
      }
      element.focus();
      if (element.isContentEditable) {
        getSelection().selectAllChildren(element);
      } else {
        element.select();
      }
      return { type: true };
    },
    leave: () => {
      const element = document.activeElement;
      element?.dispatchEvent(new Event("change", { bubbles: true }));
      return { done: true };
    },
    visible: () => {
      const element = find(args.selector);
      return element && visible(element)
        ? { done: true }
        : { wait: true, why: `not visible on the page: \`${args.selector}\`` };
    },
    gone: () => {
      const element = find(args.selector);
      return element && visible(element)
        ? { wait: true, why: `\`${args.selector}\` is still on the page` }
        : { done: true };
    },
    has: () =>
      (document.body?.innerText ?? "").includes(args.text)
        ? { done: true }
        : { wait: true, why: "the page does not contain the text" },
    count: () => ({ elements: document.getElementsByTagName("*").length }),
    links: () => {
      const found = [];
      for (const root of roots(document)) {
        for (const element of root.querySelectorAll("a[href],area[href]")) {
          // Their texts would take seconds, and the answer is a refusal.
          if (found.length >= args.elements) return { links: [], more: true };
          found.push(element);
        }
      }
      const links = found.map((element) => ({
        text: label(element).slice(0, 1000),
        url: String(element.href).slice(0, 8192),
      }));
      return { links, more: false };
    },
    table: () => {
      const table = find(args.selector);
      if (!table) return { wait: true, why: `not found on the page: \`${args.selector}\`` };
      if (table.localName !== "table") return { why: `\`${args.selector}\` is not a table` };
      const grid = [];
      let cells = 0;
      let more = false;
      const isHead = [];
      for (const [index, row] of [...table.rows].entries()) {
        const line = (grid[index] ??= []);
        isHead[index] = [...row.cells].every((cell) => cell.localName === "th") && row.cells.length > 0;
        let column = 0;
        for (const cell of row.cells) {
          while (line[column] !== undefined) column += 1;
          const text = words(cell).slice(0, args.most);
          // As the standard has it: never more than so many.
          const across = Math.min(cell.colSpan || 1, 1000);
          const down = Math.min(cell.rowSpan || table.rows.length, table.rows.length - index);
          for (let y = 0; y < down && !more; y += 1) {
            const below = (grid[index + y] ??= []);
            for (let x = 0; x < across; x += 1) {
              below[column + x] = text;
              cells += 1;
              if (cells >= args.elements) {
                more = true;
                break;
              }
            }
          }
          if (more) break;
        }
        if (more) break;
      }
      const rows = grid.map((line) => Array.from(line, (text) => text ?? ""));
      const header = isHead[0] ? rows.shift() : [];
      const caption = table.caption ? words(table.caption) : "";
      return { table: { caption, header, rows }, more };
    },
    box: () => {
      const element = find(args.selector);
      if (!element) return { wait: true, why: `not found on the page: \`${args.selector}\`` };
      element.scrollIntoView({ block: "center", behavior: "instant" });
      const box = element.getBoundingClientRect();
      if (box.width < 1 || box.height < 1) {
        return { wait: true, why: `\`${args.selector}\` is not visible` };
      }
      return { x: box.left + scrollX, y: box.top + scrollY, width: box.width, height: box.height };
    },
    frame: () => {
      const element = find(args.selector);
      if (!element) return { wait: true, why: `not found on the page: \`${args.selector}\`` };
      // The element itself: its identity is asked for.
      return ["iframe", "frame"].includes(element.localName)
        ? element
        : { why: `\`${args.selector}\` is not a frame` };
    },
  };
  try {
    return operations[operation]();
  } catch (error) {
    return { why: `cannot read the page: ${error?.message ?? error}`.slice(0, 500) };
  }
}
