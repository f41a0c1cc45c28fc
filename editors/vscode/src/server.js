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

/** Returns the answer of `brief/sees` as a Markdown page: a row for each item, a column for each client. */
function seesPage(answer) {
  const { path, clients, items, totals } = answer;
  const lines = [`# ${cell(path ?? 'the whole project')}`, ''];
  const seen = items.filter((item) => clients.some((client) => item.seen[client]?.how !== 'unseen'));
  if (seen.length === 0) {
    lines.push('No client sees guidance here.', '');
    return lines.join('\n');
  }
  const row = (cells) => `| ${cells.join(' | ')} |`;
  lines.push(row(['item', 'tokens', ...clients.map(cell)]), row(['---', '---:', ...clients.map(() => '---')]));
  for (const item of seen) {
    const how = (client) => {
      const sight = item.seen[client];
      return sight && sight.how !== 'unseen' ? cell(sight.how) : '–';
    };
    const place = `${cell(item.source.path)}:${item.source.line}`;
    lines.push(row([`${place} ${cell(item.name)}`, `~${item.tokens}`, ...clients.map(how)]));
  }
  const sum = (part) => clients.map((client) => `~${totals[client]?.[part] ?? 0}`);
  for (const part of ['loaded', 'delivered', 'offered']) {
    lines.push(row([`**${part}**`, '', ...sum(part)]));
  }
  lines.push('', '`loaded`: the client reads it by itself. `delivered`: the hook puts it into the conversation. `offered`: the hook names it.', '');
  return lines.join('\n');
}

module.exports = { LANGUAGES, serverOptions, documentSelector, seesPage };
