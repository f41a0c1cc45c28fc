// The extension against the real `brief` over standard input and output. `BRIEF` names the program.
'use strict';

const assert = require('node:assert/strict');
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const test = require('node:test');
const { pathToFileURL } = require('node:url');
const rpc = require('vscode-jsonrpc/node');
const { serverOptions, documentSelector, seesPage } = require('../src/server');
const manifest = require('../package.json');

const program = process.env.BRIEF ?? path.join(__dirname, '../../../target/debug/brief');

/** Starts the server as the extension does, in a project of these files. */
async function start(t, files) {
  const directory = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'briefing-')));
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(directory, name);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.writeFileSync(file, text);
  }
  const { command, args } = serverOptions(program);
  const server = spawn(command, args, { cwd: directory, stdio: ['pipe', 'pipe', 'inherit'] });
  const connection = rpc.createMessageConnection(
    new rpc.StreamMessageReader(server.stdout),
    new rpc.StreamMessageWriter(server.stdin),
  );
  const problems = [];
  const waiting = [];
  connection.onNotification('textDocument/publishDiagnostics', (params) => {
    problems.push(params);
    waiting.splice(0).forEach((wake) => wake());
  });
  connection.onRequest('client/registerCapability', () => null);
  connection.onRequest('workspace/codeLens/refresh', () => null);
  connection.listen();
  const uri = (name) => pathToFileURL(path.join(directory, name)).href;
  const workspace = { workspaceEdit: { documentChanges: true, resourceOperations: ['rename'] } };
  const initialized = await connection.sendRequest('initialize', {
    processId: process.pid,
    rootUri: pathToFileURL(directory).href,
    capabilities: { workspace },
  });
  await connection.sendNotification('initialized', {});
  t.after(async () => {
    await connection.sendRequest('shutdown');
    const ended = new Promise((resolve) => server.once('exit', resolve));
    await connection.sendNotification('exit');
    assert.equal(await ended, 0);
    connection.dispose();
    fs.rmSync(directory, { recursive: true });
  });
  const open = (name, languageId, text) =>
    connection.sendNotification('textDocument/didOpen', { textDocument: { uri: uri(name), languageId, version: 1, text } });
  const codes = async (name, code) => {
    for (;;) {
      const newest = problems.filter((shown) => shown.uri === uri(name)).at(-1);
      if (newest?.diagnostics.some((problem) => problem.code === code)) {
        return newest.diagnostics;
      }
      await new Promise((resolve) => waiting.push(resolve));
    }
  };
  return { connection, directory, initialized, uri, open, codes };
}

test('problems of unsaved text, fixes, and what clients see', { timeout: 30_000 }, async (t) => {
  const server = await start(t, { 'AGENTS.yaml': 'context:\n  - content: Prices are cents.\n', 'CLAUDE.md': 'Be brief.\n', 'a.py': '' });
  assert.equal(server.initialized.serverInfo.name, 'brief');
  await server.open('AGENTS.yaml', 'yaml', 'context:\n  - contant: Prices are cents.\n');
  const shown = await server.codes('AGENTS.yaml', 'agents-yaml/unknown-field');
  const range = shown.find((problem) => problem.code === 'agents-yaml/unknown-field').range;
  assert.deepEqual(range.start, { line: 1, character: 4 });
  const textDocument = { uri: server.uri('AGENTS.yaml') };
  const actions = await server.connection.sendRequest('textDocument/codeAction', { textDocument, range, context: { diagnostics: [] } });
  assert.equal(actions[0].title, 'write `content`');

  const answer = await server.connection.sendRequest('brief/sees', {
    textDocument: { uri: server.uri('a.py') },
    clients: ['claude', 'cursor'],
  });
  const page = seesPage(answer);
  assert.match(page, /^# a\.py\n/);
  assert.match(page, /\| item \| tokens \| claude \| cursor \|/);
  assert.match(page, /CLAUDE\.md:1 CLAUDE \| ~\d+ \| loaded \| loaded \|/);
  assert.equal(fs.readFileSync(path.join(server.directory, 'AGENTS.yaml'), 'utf8').includes('contant'), false);
});

test('an item is renamed with the links to it', { timeout: 30_000 }, async (t) => {
  const skill = '---\nname: pdf\ndescription: Fills in forms of PDF files on request\n---\nx\n';
  const server = await start(t, { '.claude/skills/pdf/SKILL.md': skill, 'CLAUDE.md': '[x](.claude/skills/pdf/SKILL.md)\n' });
  await server.open('.claude/skills/pdf/SKILL.md', 'markdown', skill);
  const textDocument = { uri: server.uri('.claude/skills/pdf/SKILL.md') };
  const edit = await server.connection.sendRequest('textDocument/rename', {
    textDocument,
    position: { line: 1, character: 7 },
    newName: 'forms',
  });
  const renamed = edit.documentChanges.at(-1);
  assert.equal(renamed.kind, 'rename');
  assert.ok(renamed.newUri.endsWith('/.claude/skills/forms'));
  assert.equal(edit.documentChanges.length, 3);
});

test('the setting is a program and not a line of shell', () => {
  assert.deepEqual(serverOptions('/opt/brief; rm -rf x'), { command: '/opt/brief; rm -rf x', args: ['lsp'] });
  assert.deepEqual(serverOptions('  '), { command: 'brief', args: ['lsp'] });
  assert.deepEqual(serverOptions(undefined), { command: 'brief', args: ['lsp'] });
});

test('text of a project cannot leave its cell', () => {
  const seen = { claude: { how: 'loaded', reason: '' } };
  const item = { name: 'a|b\n# <img src=x>', source: { path: 'x|y.md', line: 1 }, tokens: 3, seen };
  const page = seesPage({ path: 'a.py', clients: ['claude'], items: [item], totals: { claude: { loaded: 3 } } });
  const row = page.split('\n').find((line) => line.includes('y.md'));
  assert.equal(row.split(/(?<!\\)\|/).length, 5);
  assert.ok(!page.includes('<img'));
});

test('the manifest declares what the extension registers', () => {
  const source = fs.readFileSync(path.join(__dirname, '../src/extension.js'), 'utf8');
  for (const { command } of manifest.contributes.commands) {
    assert.ok(source.includes(`'${command}'`), command);
  }
  const languages = documentSelector().map((selector) => `onLanguage:${selector.language}`);
  assert.deepEqual(manifest.activationEvents, languages);
  assert.deepEqual(manifest.capabilities.untrustedWorkspaces.restrictedConfigurations, ['briefing.path']);
});
