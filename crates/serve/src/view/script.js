// Follows changes, filters an exported list. Everything can be read without it.
"use strict";

const show = (text) => {
  const live = document.getElementById("live");
  if (live) live.textContent = text;
};

// Takes the content of the newer page over, and keeps what the reader has done to this one.
const refresh = async () => {
  const answer = await fetch(location.href, { headers: { accept: "text/html" } });
  const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [before, after] = [document.getElementById("main"), fresh.getElementById("main")];
  if (!after) return;
  if (before.innerHTML === after.innerHTML) return;
  const focused = document.activeElement && document.activeElement.id;
  const place = [scrollX, scrollY];
  for (const open of before.querySelectorAll("details[open][id]")) {
    const same = after.querySelector(`#${CSS.escape(open.id)}`);
    if (same) same.open = true;
  }
  for (const field of before.querySelectorAll("input[id]")) {
    const same = after.querySelector(`#${CSS.escape(field.id)}`);
    if (same && field.value !== field.defaultValue) same.value = field.value;
  }
  before.replaceChildren(...after.childNodes);
  document.title = fresh.title;
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  scrollTo(...place);
  show(`Updated at ${new Date().toLocaleTimeString()}`);
};

const follow = (address) => {
  const events = new EventSource(address);
  events.addEventListener("change", () => refresh().catch(() => show("Cannot update the page; reload it.")));
  events.addEventListener("open", () => show("Updates automatically."));
  events.addEventListener("error", () => show("The server is not responding; run `brief view` to restart it."));
};

const filter = (field) => {
  const rows = [...document.querySelectorAll("#filterable > li")];
  const apply = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const row of rows) {
      const text = row.textContent.toLowerCase();
      row.hidden = !words.every((word) => text.includes(word));
      count += row.hidden ? 0 : 1;
    }
    document.getElementById("filtered").textContent = words.length ? `${count} found` : "";
  };
  field.addEventListener("input", apply);
  apply();
};

// `/` goes to the search, as in many programs.
document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input, textarea, select");
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.getElementById("filter") || document.getElementById("q");
  if (!field) return;
  event.preventDefault();
  field.focus();
});

if (document.body.dataset.events) follow(document.body.dataset.events);
const field = document.getElementById("filter");
if (field) filter(field);
