// The parts of the extension that need no editor: how the server is started, and how its answers are shown.
'use strict';

/** The languages of guidance files and of clients' own files. */
const LANGUAGES = ['markdown', 'yaml', 'toml', 'json', 'jsonc'];

/** Returns how the server is started. The setting is a program; it is never read by a shell. */
function serverOptions(path) {
  const command = typeof path === 'string' && path.trim() !== '' ? path.trim() : 'brief';
  return { command, args: ['lsp'] };
}

/** Returns which documents the server gets: those of the disk. */
function documentSelector() {
  return LANGUAGES.map((language) => ({ scheme: 'file', language }));
}

/** Returns text that a Markdown table can hold. */
function cell(text) {
  const plain = String(text).replace(/[\\|`*_[\]]/g, '\\$&').replace(/\s+/g, ' ');
  return plain.replace(/&/g, '&amp;').replace(/</g, '&lt;');
}

/** Returns the state of an item for a client, with its cause. */
function stateOf({ how, cause, same_as: same }) {
  if (cause) {
    return `${how} (${cause.replace(/-/g, ' ')})`;
  }
  return same ? `same as ${same.path}:${same.line}` : how;
}

/** Returns the answer of `brief/sees` as a Markdown page: a row for each item, a column for each client. */
function seesPage(answer) {
  const { path, clients, items, totals } = answer;
  const lines = [`# ${cell(path ?? 'the whole project')}`, ''];
  const applies = (sight) => sight !== undefined && sight.how !== 'skipped';
  const seen = items.filter((item) => clients.some((client) => applies(item.seen[client])));
  if (seen.length === 0) {
    lines.push('No guidance applies here.', '');
    return lines.join('\n');
  }
  const row = (cells) => `| ${cells.join(' | ')} |`;
  lines.push(row(['item', 'tokens', ...clients.map(cell)]), row(['---', '---:', ...clients.map(() => '---')]));
  for (const item of seen) {
    const how = (client) => {
      const sight = item.seen[client];
      return applies(sight) ? cell(stateOf(sight)) : '–';
    };
    const place = `${cell(item.source.path)}:${item.source.line}`;
    lines.push(row([`${place} ${cell(item.name)}`, `~${item.tokens}`, ...clients.map(how)]));
  }
  const sum = (part) => clients.map((client) => `~${totals[client]?.[part] ?? 0}`);
  for (const part of ['loaded', 'listed', 'delivered', 'missing']) {
    lines.push(row([`**${part}**`, '', ...sum(part)]));
  }
  for (const client of clients.filter((one) => totals[one]?.missing > 0)) {
    const { reason, fix } = answer.delivery?.[client] ?? {};
    if (reason) {
      lines.push('', `${cell(client)}: ${cell(reason)}${fix ? `; ${cell(fix)}` : ''}`);
    }
  }
  lines.push('', '`loaded`: the client reads the whole text by itself. `listed`: the agent sees name and description. `delivered`: an installed hook puts it into the conversation.', '');
  return lines.join('\n');
}

module.exports = { LANGUAGES, serverOptions, documentSelector, seesPage };
